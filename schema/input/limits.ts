/**
 * What a body from outside may hold. Beyond a limit a body is refused as a whole, or the rest is left out and counted; so that
 * no response needs more than 400 MB of memory. More limits of bytes, and those of time, are in `src/service/transport/pool.ts`.
 */
export const limits = {
  /** Decompressed. A mirror of a stranger may have longer ones, which are damaged. */
  bodyBytes: 16 * 2 ** 20,
  /** Levels of nesting; V8 parses any depth but overflows its stack when it writes 5,000 of them. */
  jsonDepth: 64,
  /** Objects, lists, texts, numbers, … of one body. */
  jsonValues: 300_000,
  /** Numbers of one body that a double would change. Each is kept as written, in ten times the memory of another number. */
  inexactNumbers: 20_000,
  /** Digits of a number that is compared with a double; a longer one stays as written. */
  numeralLength: 1_000,
  /** Items that a list may report; estimates accept no more. */
  plausibleTotal: 1_000_000,
  itemsPerPage: 20_000,
  linksPerBody: 1_000,
  /** Of a list that gives something new on each of them. */
  pagesPerList: 20_032,
  /** Rows of a list in an entity, such as pictures. */
  rowsPerList: 10_000,
  /** Further issues of a body are only counted. */
  issuesPerBody: 1_000,
  /** Hosts that are asked for pictures of one account, those with most pictures; each may take minutes. */
  pictureHosts: 32,
  pointerLength: 1_000,
  /** Places of unknown fields and links, and of wrong types, that are recorded with their first run. */
  driftPerKind: 1_000,
  /** A longer user name, or user number, identifies no user. */
  userNameLength: 1_000,
  urlLength: 8_192,
  /** The part of a name that search and suggestions read. */
  nameLength: 1_000,
  /** Names of one resource, in different lists, that search reads. */
  searchedNames: 20,
} as const;
