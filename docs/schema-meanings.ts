/** What each table and column means, for `schema.md`; the columns themselves are read from a mirror, so none can be missed. */

export interface TableMeaning {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** Columns that mean the same in every table that people read. */
export const sharedColumns: Readonly<Record<string, string>> = {
  href: "the resource's URL, which is its key",
  brand_href: "the brand's URL",
  model_href: "the model's URL",
  service_url: "its page on the public site",
  first_seen_at: "when the mirror first knew of it",
  checked_at: "when it was last asked for",
  gone_at: "when it was found to be gone; null while it is there. The row keeps its last values",
  last_modified_at: "as the service says, which names no time zone; kept as given",
};

const inCentimetres = "centimetres";

export const tablesToRead: Readonly<Record<string, TableMeaning>> = {
  brand: {
    about: "A brand of the catalogue.",
    columns: {
      bra_count: "bras that users have of it",
      name: "",
      slug: "the service's short name for it",
      default_sizing_system: "label of the sizing system it usually uses",
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
      bra_count: "bras that users have of it",
      is_discontinued: "",
      type: "kind of bra",
      official_url: "its page on the brand's own site",
      main_picture: "URL of a picture",
      main_stock_picture: "",
    },
  },
  model_picture: {
    about: "The maker's pictures of a model, in the order given.",
    columns: { n: "position, from 0", url: "", text: "a label such as a colour" },
  },
  size: {
    about: "A size of a model.",
    columns: {
      size: "its label, unique only within its model",
      band: "",
      cup: "",
      bra_count: "bras that users have of it",
      main_picture: "URL of a picture",
      alternative_sizes: "sizing system to label",
    },
  },
  relation: {
    about:
      "Which resource another one names as `related`, `same_cut` or `adjacent_sizes`; filled by `sync --follow`.",
    columns: { href: "the resource that names it", name: "the link", related_href: "the one that is named" },
  },
  user: {
    about: "The owner of an account mirror.",
    columns: {
      username: "",
      user_id: "",
      reputation: "",
      avatar: "URLs of pictures, by their size",
      is_verified: "",
      email: "only when the token may see it",
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
    about: "The user's measurements, each one whole, since their shape is not known.",
    columns: { n: "position, from 0", payload: "JSON, as sent" },
  },
  measurement_value: {
    about: "What is in a measurement at its top: a row for each value that is no object and no list.",
    columns: {
      n: "the measurement's, in `measurement`",
      name: "as sent",
      value: "true and false are 1 and 0",
    },
  },
  known: {
    about: "Everything that the mirror knows of, also what was only listed and not fetched yet.",
    columns: {
      kind: "",
      name: "as it was listed",
      state: "see `_resource`",
      owner_href: "what it is listed under: a model's brand, a size's model",
    },
  },
  coverage: {
    about: "How much of each kind is held.",
    columns: {
      kind: "",
      known: "how many the mirror knows of",
      held: "of those, how many it holds",
      due: "never fetched yet",
      failed: "could not be fetched; tried again by the next sync",
      gone: "tombstones",
      oldest_check_at: "when the one that waits longest was last asked for",
    },
  },
  media: {
    about:
      "The pictures that a user's data refers to, of an account that was synced with `--media`; at a moment of the past (`--as-of`) as they are today.",
    columns: {
      field: "what refers to it, as a JSON pointer",
      url: "its address",
      file: "what was downloaded last, in the folder of the mirror; null before that",
      type: "what its first bytes say that it is, such as `image/png`",
      size: "bytes",
      fetched_at: "when it was downloaded",
      error: "why there was nothing to keep the last time; what is kept stays",
      is_current: "0 for what the field no longer refers to",
    },
  },
  recently_changed: {
    about: "Every revision, those of the newest run first.",
    columns: {
      kind: "",
      revision: "1 when it was new, else one more than before",
      changed_at: "when it was fetched",
      run: "the run that fetched it",
    },
  },
};

export const bookkeepingTables: Readonly<Record<string, TableMeaning>> = {
  _meta: {
    about:
      "What the mirror is of: its base URL, the service's name, the present cycle of checks, the line of mirrors that it continues (`lineage`), whether what her bras are was asked for (`linked_wanted`), the last body that compression has looked at, the last dictionary that may have in it what was forgotten (`stale_dictionary`).",
    columns: { key: "", value: "" },
  },
  _run: {
    about: "The run log. Of a closed run, only whether it is forgotten may change.",
    columns: {
      id: "",
      started_at: "",
      ended_at: "null while it is running",
      mode: "",
      scope_json: "what was asked for: depth, brands, followed links",
      stopped:
        "why it ended before nothing was due: `budget`, `allowance`, `interrupted`, `approval`, `error`; else null",
      counts_json: "requests and resources, as `sync --json` reports them",
      forgotten_at:
        "when `armoire mirror compact` forgot it, so that its state can be shown no more; else null",
    },
  },
  _resource: {
    about: "Every URL that the mirror knows; what is due is read from here.",
    columns: {
      id: "",
      url: "",
      kind: "from where the link was found, never from the URL; `?name` when no kind is known for the link `name`",
      owner_id: "what it belongs to",
      state:
        "`due`, `held`, `failed` (another origin), `elsewhere` (the other area of the service), `superseded` (a page that no list leads to any more), `gone`",
      etag: "what to ask with next time",
      checked_run: "the run of its last check that still counts; 0 if it is to be requested",
      last_checked_run: "the run of its last check; 0 for none",
      recheck: "1 if it was checked and is to be requested again",
      checked_at: "milliseconds since 1970, as all times in the large tables",
      first_run: "the run that found it",
      gone_run: "the run that found it gone",
      attempts: "failures since the last answer",
      error: "the last failure",
      absent_run: "the run that noted it as absent, which is decided when a run closes; else null",
      absent_by:
        "what says so: its own `answer` (404 or 410), a `listing` that names it no more, or a `parent` that is absent",
      fetched_run:
        "the run that last got more of it than that it had not changed; what `--mode full` goes by",
    },
  },
  _content: {
    about:
      "Bodies, each with the SHA-256 of what was sent, byte for byte; what a resource changes back to is kept once. They are compressed as they come in, once there are enough of their kind. " +
      "To read one: where `codec` is `identity`, `body` is what was sent. Where it is `deflate`, `body` is a raw deflate stream (RFC 1951), " +
      "with the dictionary of `dictionary_id` unless that is null; in Python, " +
      "`zlib.decompressobj(-15, zdict=dictionary).decompress(body)`, or without `zdict`.",
    columns: {
      id: "",
      sha256: "of the body as sent",
      codec: "how `body` is stored: `identity` or `deflate`",
      size: "bytes as sent",
      body: "",
      dictionary_id: "the row of `_dictionary` without which it cannot be read; null for none",
    },
  },
  _dictionary: {
    about:
      "What bodies were compressed with: some bodies of the kind, one after the other. New ones use the newest of their kind; none ever changes.",
    columns: { id: "", kind: "", sha256: "of the dictionary", body: "" },
  },
  _revision: {
    about: "What a resource said and for how long: runs from `from_run` up to, but not including, `to_run`.",
    columns: {
      resource_id: "",
      seq: "from 1",
      content_id: "",
      from_run: "",
      to_run: "null while it is current",
      status: "of the HTTP response",
      fetched_at: "",
      base_url:
        "what relative links in the body are relative to, where redirects led away from the resource's URL",
      seen_run: "the run that last found it current; null while it is",
      seen_at: "when that was",
    },
  },
  _resource_past: {
    about:
      "What a resource's kind, owner and state were before the present ones: up to, but not including, `to_run`, from where the row before ends or the resource was found.",
    columns: { id: "", to_run: "", kind: "", owner_id: "", state: "", gone_run: "" },
  },
  _link: {
    about: "The links of the current bodies.",
    columns: {
      from_id: "",
      name: "",
      kind: "what it leads to",
      to_id: "the resource that it leads to; null when it is only noted, or not followed",
      noted_url:
        "where it leads when that is no resource of the mirror's; `+` at its beginning stands for the URL of `from_id`",
      from_run: "the run since which it is so",
    },
  },
  _pass: {
    about:
      "Collections whose last reading left something open: pages that are to be read again, or totals and items that do not fit. Such a list proves nobody's absence.",
    columns: {
      collection_id: "the first page",
      verdict: "`open`: not all pages are read; `partial`: they do not make one whole, see `_issue`",
      from_run: "pages that were last checked before this run are still to be read",
      reread_run: "the run in which its pages were last read for a second time",
      judged: "which revisions of which pages were judged, as JSON",
    },
  },
  _page: {
    about: "The pages of each collection.",
    columns: {
      id: "the page's resource",
      collection_id: "the first page",
      next_id: "the following page",
      total: "the collection's size, as the page says",
    },
  },
  _member: {
    about: "What each page lists.",
    columns: {
      page_id: "",
      n: "position, from 0",
      item_id: "",
      name: "as listed",
      from_run: "the run since which it is so",
    },
  },
  _search: {
    about:
      "What `armoire search` finds: the words of a brand's, model's or bra's names and codes, or, until it is first held, of the names that lists give it. For runs from `from_run` up to, but not including, `to_run`.",
    columns: {
      id: "",
      resource_id: "",
      kind: "",
      text: "a line for each name; words without case and accents, between spaces",
      from_run: "",
      to_run: "null while it is so",
    },
  },
  _media: {
    about: "The addresses of pictures.",
    columns: {
      id: "",
      url: "",
      etag: "to ask whether it has changed",
      last_modified: "the same, where there was no `etag`",
      checked_at: "when it was last asked for, in milliseconds since 1970; null before that",
      error: "why there was nothing to keep the last time",
    },
  },
  _media_file: {
    about: "What was downloaded from there; a file in `media/` beside the mirror is called by its SHA-256.",
    columns: {
      media_id: "",
      seq: "from 1; the last one is what it is now",
      sha256: "",
      type: "",
      size: "bytes",
      fetched_at: "in milliseconds since 1970",
    },
  },
  _media_use: {
    about: "What refers to a picture.",
    columns: {
      resource_id: "",
      field: "as a JSON pointer",
      media_id: "",
      is_current: "0 for what refers to another one by now",
    },
  },
  _issue: {
    about: "What was odd in a body, and kept all the same.",
    columns: {
      resource_id: "",
      pointer: "where, as a JSON pointer",
      code: "what",
      detail: "what a person needs to know beyond the code, such as why a link is not followed",
      run_id: "the run that met it",
    },
  },
};
