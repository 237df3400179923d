/** The meaning of the program's own tables and their columns. */
import type { TableMeaning } from "./table-meaning.ts";

export const bookkeepingTables: Readonly<Record<string, TableMeaning>> = {
  _meta: {
    about:
      "Facts about the mirror: base URL, area, service name, current cycle of checks, random id that backups keep (`mirror_id`), whether linked catalogue resources are requested (`with_catalogue`), progress of compression (`compressed_content`), and the newest dictionary that may contain pruned data (`stale_dictionary`).",
    columns: { key: "", value: "" },
  },
  _run: {
    about: "The run log. A closed run never changes, except that it can be pruned.",
    columns: {
      id: "",
      started_at: "",
      ended_at: "null while the run is open",
      mode: "",
      scope_json: "the requested scope: depth, brands, followed links, and the kind of credential",
      stopped:
        "why it ended early: `budget`, `allowance`, `interrupted`, `approval` or `error`; null if nothing was due any more",
      counts_json: "numbers of requests and resources, as in `sync --json`",
      coverage_json:
        "what the mirror held when the run closed, as `coverage` in an export's `datapackage.json`",
      pruned_at:
        "when `armoire mirror compact` pruned it, else null; the state of a pruned run can no longer be shown",
    },
  },
  _resource: {
    about: "All known URLs. A sync selects due resources from this table.",
    columns: {
      id: "",
      url: "",
      kind: "from the place of the link, never from the URL; `?name` if the link `name` is unknown",
      owner_id: "the resource that it belongs to",
      state:
        "`due` (to be fetched), `held`, `failed` (could not be fetched, to be retried), `elsewhere` (in the other area of the service), `superseded` (a page that its list no longer has), `gone`",
      etag: "validator for the next conditional request: the `ETag`, or `Last-Modified` without one",
      checked_run: "the run of its last check that still counts; 0 if it is to be requested",
      last_checked_run: "the run of its last check; 0 for none",
      recheck: "1 if it was checked and is to be requested again",
      checked_at: "milliseconds since 1970, as all times in the large tables",
      first_run: "the run that found it",
      gone_run: "the run that found it gone",
      attempts: "failures since the last success",
      error: "the last failure",
      absent_run: "the run in which it was found absent, until a run closes and decides; else null",
      absent_by:
        "the evidence: `response` (404 or 410), `listing` (its list no longer has it), or `parent` (its owner is absent)",
      fetched_run: "the run of its last response other than 304 (not modified), for `--mode full`",
      retry_at:
        "when to request it again, if the service asked to wait longer than a minute for this resource alone; else null",
    },
  },
  _content: {
    about:
      "Bodies, with the SHA-256 of the bytes as sent. A resource that returns to an earlier body shares its row. " +
      "With codec `identity`, `body` contains the bytes as sent. With codec `deflate`, it is a raw deflate stream (RFC 1951), " +
      "compressed with the dictionary `dictionary_id` unless that is null. In Python: " +
      "`zlib.decompressobj(-15, zdict=dictionary).decompress(body)`; without a dictionary, omit `zdict`.",
    columns: {
      id: "",
      sha256: "of the body as sent",
      codec: "encoding of `body`: `identity` or `deflate`",
      size: "bytes as sent",
      body: "",
      dictionary_id: "the row of `_dictionary` for decompression; null for none",
    },
  },
  _dictionary: {
    about:
      "Compression dictionaries: some bodies of a kind, concatenated. New bodies use the newest one of their kind. A dictionary never changes.",
    columns: { id: "", kind: "", sha256: "of the dictionary", body: "" },
  },
  _headers: {
    about: "Headers that many responses have in common.",
    columns: { id: "", content_type: "header `Content-Type`", link: "header `Link`" },
  },
  _revision: {
    about:
      "The distinct contents of each resource over time. A revision holds from `from_run` up to, but not including, `to_run`.",
    columns: {
      resource_id: "",
      seq: "from 1",
      content_id: "",
      from_run: "",
      to_run: "null for the current revision",
      status: "of the HTTP response",
      fetched_at: "",
      base_url: "base of relative links in the body, if redirects led away from the resource's URL",
      sent_at: "header `Date` of the response",
      modified_at: "header `Last-Modified`",
      headers_id: "",
      etag: "the last validator, as in `_resource`; that of the current revision is in its resource",
      seen_run: "the last run that found it unchanged; null for the current revision",
      seen_at: "the time of that check",
    },
  },
  _snapshot: {
    about:
      "Shared snapshots of which something was loaded. What one holds counts as unconfirmed until the service itself confirms it.",
    columns: {
      id: "",
      root_hash: "identifies the snapshot's contents: SHA-256, in hexadecimal",
      taken_on: "the day of the state that it holds",
      seen_by: "the credential with which its mirror was fetched: `none`, `app` or `token`",
      source: "the name of its file, or its URL",
      signed_by: "the fingerprint of the key that signed it; null if it is not signed",
      sequence: "its number in a published folder, else null",
      validators:
        "whether its validators are sent: `used`, or `withheld` until a sample shows that the service gives the same ones to this mirror's credential",
      sample_seed:
        "drawn after loading; the sample is the loaded resources with the smallest SHA-256 of seed and URL",
      sample_size: "how many resources are fetched whole and compared",
      condemned_at:
        "when the service sent another body under the same validator; what it had not confirmed by bytes was removed then",
      condemned_by: "the URL of that resource",
    },
  },
  _loaded: {
    about: "The revisions that came from snapshots. All other revisions were sent by the service.",
    columns: {
      resource_id: "",
      seq: "",
      snapshot_id: "",
      etag: "the validator that the snapshot states",
      sampled: "1 if it is part of the sample that is fetched whole",
      validator_run: "the first run in which the service confirmed the validator (304), else null",
      bytes_run: "the first run in which the service sent the same body, else null",
    },
  },
  _linked_check: {
    about:
      "Resources that a run requested for the bras of an account alone (`--with-catalogue`), and what runs over the service's lists knew of them before. A snapshot shows that, until such a run has received them again.",
    columns: {
      resource_id: "",
      seq: "the revision, null for none",
      checked_run: "the run that had checked it, 0 for none",
      checked_at: "in milliseconds since 1970",
    },
  },
  _resource_past: {
    about:
      "Earlier kinds, owners and states of resources. A row ends before `to_run` and begins where the previous one ends, or with the first run of the resource.",
    columns: { id: "", to_run: "", kind: "", owner_id: "", state: "", gone_run: "" },
  },
  _link: {
    about: "The links of the current bodies.",
    columns: {
      from_id: "",
      name: "",
      kind: "kind of the target",
      to_id: "the target; null if the link is not followed",
      unfollowed_url:
        "address of a link that is not followed; `+` at its beginning stands for the URL of `from_id`",
      from_run: "the run in which the row began",
    },
  },
  _pass: {
    about:
      "Collections without a complete, consistent pass: pages are missing, or totals and items disagree. Such a list proves no absence.",
    columns: {
      collection_id: "the first page",
      status: "`open`: not all pages are read; `partial`: the pages are inconsistent, see `_issue`",
      from_run: "pages checked before this run must be checked again",
      reread_run: "the last run that requested all pages a second time",
      page_versions: "the revisions of the pages that were examined last, as JSON",
    },
  },
  _page: {
    about: "The pages of each collection.",
    columns: {
      id: "the page's resource",
      collection_id: "the first page",
      next_id: "the following page",
      total: "the size of the collection according to the page",
      page_total: "as sent; some services count pages, others the items of this page",
      doubt:
        "why the body may be that of another page: it names another resource of the mirror (`other-page`) or an unknown address (`other-address`) as its own; null if it does not",
    },
  },
  _member: {
    about: "The items of each page.",
    columns: {
      page_id: "",
      n: "position, from 0",
      item_id: "",
      name: "as listed",
      from_run: "the run in which the row began",
    },
  },
  _search: {
    about:
      "The documents of `armoire search`: the words in the names and codes of brands, models and bras. Until a resource is fetched, they come from the names in its lists. A document holds from `from_run` up to, but not including, `to_run`.",
    columns: {
      id: "",
      resource_id: "",
      kind: "",
      text: "one line for each name; words without case and accents, between spaces",
      from_run: "",
      to_run: "null for the current document",
    },
  },
  _media: {
    about: "The addresses of pictures.",
    columns: {
      id: "",
      url: "",
      etag: "validator for the next conditional request",
      last_modified: "the same, for a response without an `etag`",
      checked_at: "when it was last requested, in milliseconds since 1970; null before the first request",
      error: "why the last download failed",
    },
  },
  _media_file: {
    about:
      "The files downloaded from each address. The name of a file in `media/`, beside the mirror, is its SHA-256 and the ending of its type.",
    columns: {
      media_id: "",
      seq: "from 1; the last one is current",
      sha256: "",
      type: "",
      size: "bytes",
      fetched_at: "in milliseconds since 1970",
    },
  },
  _media_use: {
    about: "The fields that refer to pictures.",
    columns: {
      resource_id: "",
      field: "as a JSON pointer",
      media_id: "",
      is_current: "0 if the field no longer refers to it",
    },
  },
  _issue: {
    about: "Irregularities in bodies, which are stored all the same.",
    columns: {
      resource_id: "",
      pointer: "the place, as a JSON pointer",
      code: "the kind of irregularity",
      detail: "details, for example why a link is not followed",
      run_id: "the run that found it",
    },
  },
  _drift: {
    about: "The view `schema_drift` without times.",
    columns: {
      kind: "",
      pointer: "",
      code: "",
      first_run: "",
    },
  },
};
