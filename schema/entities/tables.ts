/** The tables of entities and of the lists in them, typed for Kysely. */

/** A field of the service, as SQLite stores it: text with lone surrogates is a BLOB. */
export type Field = string | number | Uint8Array | null;

type EntityTable<Fields extends string, References extends string = never> = {
  id: number;
  from_run: number;
} & Record<Fields, Field> &
  Record<References, number | null>;

type ListTable<Fields extends string> = { parent_id: number; n: number; from_run: number } & Record<
  Fields,
  Field
>;

export type BrandTable = EntityTable<
  | "service_url"
  | "bra_count"
  | "name"
  | "slug"
  | "default_sizing_system"
  | "default_sizing_name"
  | "logo"
  | "twitter"
  | "facebook"
  | "official_url"
  | "last_modified_at"
>;

export type ModelTable = EntityTable<
  | "service_url"
  | "code"
  | "name"
  | "full_name"
  | "slug"
  | "brand_slug"
  | "bra_count"
  | "is_discontinued"
  | "type"
  | "official_url"
  | "main_picture"
  | "main_stock_picture"
  | "last_modified_at",
  "brand_id"
>;

export type ModelPictureTable = ListTable<"url" | "text">;

export type SizeTable = EntityTable<
  | "service_url"
  | "size"
  | "band"
  | "cup"
  | "bra_count"
  | "main_picture"
  | "alternative_sizes"
  | "last_modified_at",
  "model_id"
>;

export type UserTable = EntityTable<
  "username" | "service_url" | "user_id" | "reputation" | "avatar" | "is_verified" | "email"
>;

export type BraTable = EntityTable<
  | "service_url"
  | "name"
  | "brand"
  | "model"
  | "size"
  | "is_owned"
  | "is_custom"
  | "is_altered"
  | "altered_band"
  | "hooks"
  | "bust_perimeter"
  | "strap_width"
  | "cup_separation"
  | "cup_depth"
  | "wire_length"
  | "gore_height"
  | "wing_height"
  | "band_length"
  | "stretched_band_length"
  | "note",
  "brand_id" | "model_id" | "size_id"
>;

export type BraSizeTable = ListTable<"system" | "size">;

export type MeasurementTable = ListTable<"payload">;
