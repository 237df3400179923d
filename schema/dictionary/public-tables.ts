/**
 * The public tables: what each table and column means, the types of columns, keys and references. `docs/schema.md` and exported
 * packages are made from it. Columns of entities have the types of their fields.
 */
import type { PublicTableMeaning } from "./table-meaning.ts";

/** Columns with the same meaning in every public table. */
export const sharedColumns: Readonly<Record<string, string>> = {
  href: "the resource's URL, which is its key",
  brand_href: "the brand's URL",
  model_href: "the model's URL",
  service_url: "its page on the public site",
  first_seen_at: "when the mirror first saw a link to it",
  checked_at: "when it was last requested. Not in exports: it changes without the data",
  gone_at: "when the run began that found it to be gone, else null. The row keeps its last values",
  confirmed:
    "`bytes` if the service has sent these values to this mirror; of a row from a shared snapshot `validator` once it has confirmed their version, else null. In exports only if the mirror has loaded a snapshot",
  last_modified_at: "from the service, as sent, without a time zone",
};

const inCentimetres = "centimetres";

export const publicTables: Readonly<Record<string, PublicTableMeaning>> = {
  brand: {
    about: "A brand of the catalogue.",
    key: ["href"],
    searched: ["name"],
    columns: {
      bra_count: "number of bras of it that users have",
      name: "its name",
      slug: "the service's short name for it",
      default_sizing_system: "label of its usual sizing system",
      default_sizing_name: "name of that system",
      logo: "URL of a picture",
      twitter: "its name on Twitter",
      facebook: "its page on Facebook",
      official_url: "the brand's site",
    },
  },
  model: {
    about: "A model of a brand.",
    key: ["href"],
    references: { brand_href: "brand" },
    searched: ["name", "full_name", "code"],
    columns: {
      code: "the manufacturer's code",
      name: "its name, unique only within its brand",
      full_name: "name and code together",
      slug: "unique only within its brand",
      brand_slug: "the brand's `slug`",
      bra_count: "number of bras of it that users have",
      is_discontinued: "whether it is no longer made",
      type: "kind of bra",
      official_url: "its page on the brand's site",
      main_picture: "URL of a picture",
      main_stock_picture: "the manufacturer's main picture",
    },
  },
  model_picture: {
    about: "The manufacturer's pictures of a model, in the order of the service.",
    key: ["model_href", "n"],
    references: { model_href: "model" },
    types: { n: "integer" },
    columns: { n: "position, from 0", url: "its address", text: "a label, for example a colour" },
  },
  size: {
    about: "A size of a model.",
    key: ["href"],
    references: { model_href: "model", brand_href: "brand" },
    columns: {
      size: "its label, unique only within its model",
      band: "the number in the label; its unit depends on the sizing system",
      cup: "the letters in the label; their order depends on the sizing system",
      bra_count: "number of bras of it that users have",
      main_picture: "URL of a picture",
      alternative_sizes: 'its labels in other sizing systems, such as `{"UK": "30FF"}`',
    },
  },
  size_label: {
    about:
      "The labels of all sizes that are not gone, taken apart: each label in `alternative_sizes`, and the size's own one. A label is " +
      "a number and a cup, such as `65F`, `30 FF` or `36DD/E`; in any other label band and cup are null. Not in exports: " +
      "`armoire query` can write it to a file.",
    types: { band: "integer", cup_position: "integer" },
    columns: {
      href: "the size's URL",
      system: "label of the sizing system, as sent; null if unknown",
      label: "the size's label in that system, as sent",
      band: "the number in the label; its unit depends on the system",
      cup: "the letters in the label, in capitals",
      cup_position: "the cup's position in `cup_order`; null if that lacks the system or the cup",
      system_from:
        "how the system is known: `alternative` if `alternative_sizes` names it, `brand` if the size's own label is taken to be " +
        "in its brand's default sizing system, null if it is unknown",
    },
  },
  cup_order: {
    about:
      "The cups of sizing systems, from small to large, as in makers' size charts; those of EU as in EN 13402-3. Positions " +
      "compare only within a system.",
    key: ["system", "cup"],
    types: { position: "integer" },
    columns: {
      system: "its label, in capitals",
      cup: "in capitals",
      position: "from 1; names of the same cup, such as DD and E in US, have the same position",
    },
  },
  relation: {
    about:
      "Relations between resources: `related`, `same_cut` and `adjacent_sizes`. Filled by `sync --follow`.",
    key: ["href", "name", "related_href"],
    types: { related_href: "url" },
    columns: {
      href: "the resource with the link",
      name: "the link's name",
      related_href: "the related resource",
    },
  },
  user: {
    about: "The owner of an account mirror.",
    key: ["href"],
    columns: {
      username: "the name on the site",
      user_id: "the number on the site",
      reputation: "points on the site",
      avatar: "URLs of pictures, by size",
      is_verified: "whether the site has verified the user",
      email: "null unless the token has access to it",
    },
  },
  bra: {
    about: "A bra of the user.",
    key: ["href"],
    searched: ["name", "brand", "model", "size", "note"],
    columns: {
      size_href: "the size's URL",
      name: "its name, as listed",
      brand: "the brand's name",
      model: "the model's name",
      size: "the size's label",
      is_owned: "whether the user owns it",
      is_custom: "whether it is made to measure",
      is_altered: "whether it was altered",
      altered_band: "whether its band was altered",
      hooks: "number of hooks",
      bust_perimeter: inCentimetres,
      strap_width: inCentimetres,
      cup_separation: inCentimetres,
      cup_depth: inCentimetres,
      wire_length: inCentimetres,
      gore_height: inCentimetres,
      wing_height: inCentimetres,
      band_length: inCentimetres,
      stretched_band_length: inCentimetres,
      note: "the user's note",
    },
  },
  bra_size: {
    about: "A bra's size in several sizing systems.",
    key: ["bra_href", "n"],
    references: { bra_href: "bra" },
    types: { bra_href: "url", n: "integer" },
    columns: {
      bra_href: "the bra's URL",
      n: "position, from 0",
      system: "the sizing system's label",
      size: "the label in that system",
    },
  },
  measurement: {
    about:
      "The user's measurements. Each is stored whole, as JSON, since the service does not specify its fields.",
    key: ["href", "n"],
    types: { n: "integer", payload: "object" },
    columns: { n: "position, from 0", payload: "JSON, as sent" },
  },
  measurement_value: {
    about: "The fields of measurements: one row for each value at the top level, without objects and lists.",
    types: { n: "integer", value: "any" },
    columns: {
      n: "position of the measurement, as in `measurement`",
      name: "as sent",
      value: "as sent; true is 1 and false is 0",
    },
  },
  known: {
    about: "All known resources, including those that are not fetched yet.",
    key: ["href"],
    types: { owner_href: "url" },
    columns: {
      kind: "what it is",
      name: "as listed",
      state: "see `_resource`",
      owner_href: "the owner of its list: the brand of a model, the model of a size",
    },
  },
  resource_key: {
    about: "The short keys that `armoire show KIND KEY` takes.",
    key: ["href"],
    columns: {
      kind: "what it is",
      key: "such as `brand/model/size`, or the id of a bra; the URL without slugs; null for a user, and for a brand or model that is not fetched yet",
    },
  },
  coverage: {
    about: "How complete and how fresh each kind is.",
    key: ["kind"],
    types: {
      known: "integer",
      held: "integer",
      due: "integer",
      failed: "integer",
      gone: "integer",
      oldest_check_at: "time",
    },
    columns: {
      kind: "what the resources are",
      known: "known resources; null while lists of them are known and none is fetched",
      held: "fetched",
      due: "not fetched yet",
      failed: "failed; the next sync retries them",
      gone: "tombstones",
      oldest_check_at:
        "the oldest `checked_at` of a held one; of the past null if one was checked again since",
    },
  },
  media: {
    about:
      "The pictures in a user's data, if the account was synced with `--media`. With `--as-of` it shows the current pictures.",
    key: ["href", "field", "url"],
    types: { size: "integer", fetched_at: "time", is_current: "boolean" },
    columns: {
      field: "the field with the address, as a JSON pointer",
      url: "its address",
      file: "the last downloaded file, relative to the folder of the mirror; null before the first",
      type: "from its first bytes, for example `image/png`",
      size: "bytes",
      fetched_at: "when it was downloaded",
      error: "why the last download failed; an earlier file stays",
      is_current: "0 if the field no longer refers to it",
    },
  },
  schema_drift: {
    about:
      "What the responses have that the specification does not, and since when. It stays after the service has dropped it.",
    key: ["kind", "pointer", "code"],
    types: { run: "integer", first_seen_at: "time" },
    columns: {
      kind: "of the resources with it",
      pointer: "the place in the body, as a JSON pointer; `*` is any item of a list",
      code: "`unknown-field`, `unknown-link` or `wrong-type`",
      run: "the first run that saw it",
      first_seen_at: "when that run began",
    },
  },
  recently_changed: {
    about: "All revisions, newest run first.",
    key: ["href", "revision"],
    types: { revision: "integer", changed_at: "time", run: "integer" },
    columns: {
      kind: "what it is",
      revision: "its number, from 1",
      changed_at: "when it was fetched",
      run: "the run that fetched it",
    },
  },
};

/** The tables of exports that are not in a mirror. */
export const exportedTables: Readonly<Record<string, PublicTableMeaning>> = {
  envelope: {
    about: "The last response for each resource, as the service sent it. With `export --with-envelopes`.",
    key: ["href"],
    types: { fetched_at: "time", status: "integer", sent_at: "time", modified_at: "time", body: "verbatim" },
    columns: {
      kind: "what it is",
      fetched_at: "when it was received",
      status: "of HTTP",
      etag: "header `ETag`; null if it had none, as the other headers",
      sent_at: "header `Date`; null if it cannot be read, as `modified_at`",
      modified_at: "header `Last-Modified`",
      content_type: "header `Content-Type`",
      link: "header `Link`",
      body: "JSON, as sent",
    },
  },
};
