/** All tables of typed rows, in the order of exports and documentation. */
import { bra } from "./entities/bra.ts";
import { brand } from "./entities/brand.ts";
import { measurement } from "./entities/measurement.ts";
import { model } from "./entities/model.ts";
import { size } from "./entities/size.ts";
import { user } from "./entities/user.ts";
import type { Entity, ListTable } from "./rows-from-body.ts";

export const entities: readonly Entity[] = [brand, model, size, user, bra];

export const listTables: readonly ListTable[] = [...entities.flatMap((entity) => entity.lists), measurement];
