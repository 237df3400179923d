/** Descriptions of tables and columns for `schema.md`. The columns are read from a mirror, so none can be missing. */

export interface TableMeaning {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** Columns with the same meaning in all public tables. */
export const sharedColumns: Readonly<Record<string, string>> = {
  href: "the resource's URL, its key",
  brand_href: "the brand's URL",
  model_href: "the model's URL",
  service_url: "its page on the public site",
  first_seen_at: "when the mirror first saw it",
  checked_at: "when it was last requested",
  gone_at: "when it was found to be gone, else null. The row keeps its last values",
  last_modified_at: "reported by the service, without a time zone",
};

const inCentimetres = "centimetres";

export const tablesToRead: Readonly<Record<string, TableMeaning>> = {
  brand: {
    about: "A brand of the catalogue.",
    columns: {
      bra_count: "bras of all users",
      name: "",
      slug: "the service's short name for it",
      default_sizing_system: "label of its usual sizing system",
      default_sizing_name: "that system's name",
      logo: "URL of a picture",
      twitter: "",
      facebook: "",
      official_url: "the brand's own site",
    },
  },
  model: {
    about: "A model of a brand.",
    columns: {
      code: "the maker's code",
      name: "",
      full_name: "name and code together",
      slug: "unique only within its brand",
      brand_slug: "",
      bra_count: "bras of all users",
      is_discontinued: "",
      type: "kind of bra",
      official_url: "its page on the brand's own site",
      main_picture: "URL of a picture",
      main_stock_picture: "",
    },
  },
  model_picture: {
    about: "The maker's pictures of a model, in their order.",
    columns: { n: "position, from 0", url: "", text: "a label such as a colour" },
  },
  size: {
    about: "A size of a model.",
    columns: {
      size: "its label, unique only within its model",
      band: "",
      cup: "",
      bra_count: "bras of all users",
      main_picture: "URL of a picture",
      alternative_sizes: "sizing system to label",
    },
  },
  relation: {
    about: "Links named `related`, `same_cut` and `adjacent_sizes`; filled by `sync --follow`.",
    columns: { href: "the resource with the link", name: "the link's name", related_href: "its target" },
  },
  user: {
    about: "The owner of an account mirror.",
    columns: {
      username: "",
      user_id: "",
      reputation: "",
      avatar: "URLs of pictures, by their size",
      is_verified: "",
      email: "only if the token may read it",
    },
  },
  bra: {
    about: "A bra of the user.",
    columns: {
      size_href: "the size's URL",
      name: "",
      brand: "the brand's name",
      model: "the model's name",
      size: "the size's label",
      is_owned: "",
      is_custom: "",
      is_altered: "",
      altered_band: "",
      hooks: "",
      bust_perimeter: inCentimetres,
      strap_width: inCentimetres,
      cup_separation: inCentimetres,
      cup_depth: inCentimetres,
      wire_length: inCentimetres,
      gore_height: inCentimetres,
      wing_height: inCentimetres,
      band_length: inCentimetres,
      stretched_band_length: inCentimetres,
      note: "",
    },
  },
  bra_size: {
    about: "A bra's size in several sizing systems.",
    columns: {
      bra_href: "the bra's URL",
      n: "position, from 0",
      system: "the sizing system's label",
      size: "",
    },
  },
  measurement: {
    about: "The user's measurements, unparsed, since their shape is not documented.",
    columns: { n: "position, from 0", payload: "JSON, as sent" },
  },
  measurement_value: {
    about: "The top-level values of measurements, without objects and lists.",
    columns: {
      n: "`n` in `measurement`",
      name: "as sent",
      value: "1 and 0 for true and false",
    },
  },
  known: {
    about: "All known resources, including those that were listed and not fetched yet.",
    columns: {
      kind: "",
      name: "as listed",
      state: "see `_resource`",
      owner_href: "its parent: a model's brand, a size's model",
    },
  },
  coverage: {
    about: "The number of resources of each kind.",
    columns: {
      kind: "",
      known: "all known ones",
      held: "fetched and not gone",
      due: "never fetched",
      failed: "failed; retried by the next sync",
      gone: "tombstones",
      oldest_check_at: "the oldest last check",
    },
  },
  media: {
    about:
      "Pictures in a user's data, if the account was synced with `--media`. With `--as-of` they are those of today.",
    columns: {
      field: "the field that refers to it, as a JSON pointer",
      url: "its address",
      file: "the last download, relative to the mirror's folder, or null",
      type: "by its first bytes, such as `image/png`",
      size: "bytes",
      fetched_at: "when it was downloaded",
      error: "why the last download failed; an earlier one stays",
      is_current: "0 if the field no longer refers to it",
    },
  },
  recently_changed: {
    about: "All revisions, newest run first.",
    columns: {
      kind: "",
      revision: "1 if new, else the previous number plus 1",
      changed_at: "when it was fetched",
      run: "the run that fetched it",
    },
  },
};

export const bookkeepingTables: Readonly<Record<string, TableMeaning>> = {
  _meta: {
    about:
      "Facts about the mirror: base URL, service name, current cycle of checks, the mirror's identity (`lineage`), whether `--with-catalogue` was used (`linked_wanted`), and the progress of compression (`stale_dictionary` and others).",
    columns: { key: "", value: "" },
  },
  _run: {
    about: "The run log. Entries of closed runs do not change, except `forgotten_at`.",
    columns: {
      id: "",
      started_at: "",
      ended_at: "null while it is running",
      mode: "",
      scope_json: "its options: depth, brands, followed links",
      stopped: "why it ended early: `budget`, `allowance`, `interrupted`, `approval`, `error`; else null",
      counts_json: "requests and resources, as `sync --json` reports them",
      forgotten_at: "when `armoire mirror compact` forgot it, so that its state cannot be shown; else null",
    },
  },
  _resource: {
    about: "All known URLs. Due resources are read from here.",
    columns: {
      id: "",
      url: "",
      kind: "from the link that led to it, never from its URL; `?name` if the link `name` has no known kind",
      owner_id: "its parent",
      state:
        "`due`, `held`, `failed`, `elsewhere` (another area of the service), `superseded` (a page that is no longer in its list), `gone`",
      etag: "for the next request",
      checked_run: "the run of its last check that still counts; 0 if it is to be requested",
      last_checked_run: "the run of its last check; 0 for none",
      recheck: "1 if it was checked and is to be requested again",
      checked_at: "milliseconds since 1970, as all times in the large tables",
      first_run: "the run that found it",
      gone_run: "the run that found it gone",
      attempts: "failures since the last response",
      error: "the last failure",
      absent_run: "the run that noted it as absent, until a run closes; else null",
      absent_by:
        "the evidence: `answer` (its own 404 or 410), `listing` (a list without it), or `parent` (an absent parent)",
      fetched_run: "the run of its last response other than 304; used by `--mode full`",
    },
  },
  _content: {
    about:
      "Bodies, each with the SHA-256 of its bytes as sent. A body that a resource returns to is stored once. " +
      "If `codec` is `identity`, `body` is the body as sent. If it is `deflate`, `body` is a raw deflate stream (RFC 1951) " +
      "with the dictionary of `dictionary_id`, if any. In Python: " +
      "`zlib.decompressobj(-15, zdict=dictionary).decompress(body)`, or without `zdict`.",
    columns: {
      id: "",
      sha256: "of the body as sent",
      codec: "how `body` is stored: `identity` or `deflate`",
      size: "bytes as sent",
      body: "",
      dictionary_id: "its row in `_dictionary`, or null",
    },
  },
  _dictionary: {
    about:
      "Compression dictionaries: concatenated bodies of a kind. New bodies use the newest one; none ever changes.",
    columns: { id: "", kind: "", sha256: "of the dictionary", body: "" },
  },
  _revision: {
    about: "The contents of a resource over time, from `from_run` to before `to_run`.",
    columns: {
      resource_id: "",
      seq: "from 1",
      content_id: "",
      from_run: "",
      to_run: "null while it is current",
      status: "of the HTTP response",
      fetched_at: "",
      base_url: "the base of relative links, if redirects led away from the resource's URL",
      seen_run: "the run that last found it current; null while it is",
      seen_at: "when that was",
    },
  },
  _resource_past: {
    about:
      "Earlier kinds, owners and states of a resource. A row begins where the one before ends, and ends before `to_run`.",
    columns: { id: "", to_run: "", kind: "", owner_id: "", state: "", gone_run: "" },
  },
  _link: {
    about: "The links of the current bodies.",
    columns: {
      from_id: "",
      name: "",
      kind: "the kind of its target",
      to_id: "its target; null if it is only noted, or not followed",
      noted_url: "its target if that is not in the mirror; a leading `+` stands for the URL of `from_id`",
      from_run: "the run that added it",
    },
  },
  _pass: {
    about:
      "Collections that were not read completely: pages are missing, or totals and items do not fit. Such a list proves no absence.",
    columns: {
      collection_id: "the first page",
      verdict: "`open`: pages are missing; `partial`: the pages do not fit together, see `_issue`",
      from_run: "pages last checked before this run must be read again",
      reread_run: "the last run that read all pages a second time",
      judged: "the revisions of the pages that were examined, as JSON",
    },
  },
  _page: {
    about: "The pages of each collection.",
    columns: {
      id: "the page's resource",
      collection_id: "the first page",
      next_id: "the following page",
      total: "the collection's size according to the page",
    },
  },
  _member: {
    about: "The items of each page.",
    columns: {
      page_id: "",
      n: "position, from 0",
      item_id: "",
      name: "as listed",
      from_run: "the run that added it",
    },
  },
  _search: {
    about:
      "The words of a brand's, model's or bra's names and codes or, until it is fetched, of its names in lists. Valid from `from_run` to before `to_run`.",
    columns: {
      id: "",
      resource_id: "",
      kind: "",
      text: "one line per name: words without case and accents",
      from_run: "",
      to_run: "null while it is current",
    },
  },
  _media: {
    about: "The addresses of pictures.",
    columns: {
      id: "",
      url: "",
      etag: "for the next request",
      last_modified: "the same, if there was no `etag`",
      checked_at: "the last request, in milliseconds since 1970, or null",
      error: "why the last download failed",
    },
  },
  _media_file: {
    about: "Downloads. The file in `media/` beside the mirror is named by its SHA-256.",
    columns: {
      media_id: "",
      seq: "from 1; the highest is current",
      sha256: "",
      type: "",
      size: "bytes",
      fetched_at: "in milliseconds since 1970",
    },
  },
  _media_use: {
    about: "References to pictures.",
    columns: {
      resource_id: "",
      field: "as a JSON pointer",
      media_id: "",
      is_current: "0 if the field now refers to another picture",
    },
  },
  _issue: {
    about: "Deviations in bodies. The bodies are stored all the same.",
    columns: {
      resource_id: "",
      pointer: "the place, as a JSON pointer",
      code: "the deviation",
      detail: "more for people, such as why a link is not followed",
      run_id: "the run that found it",
    },
  },
};
