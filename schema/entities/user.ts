/** The owner of a token (service-specification, section 2.3); `email` requires its scope. */
import { z } from "zod";
import { document, flag, integer, text, url } from "../fields.ts";
import type { Entity } from "../rows-from-body.ts";

export const user: Entity = {
  table: "user",
  fields: z.object({
    username: text,
    service_url: url,
    user_id: integer,
    reputation: integer,
    avatar: document,
    is_verified: flag,
    email: text,
  }),
  references: [],
  owner: null,
  lists: [],
};
