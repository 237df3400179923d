/** How a service shows that a token lacks the scope of a user's bras or measurements. */

/**
 * `null-link`: the link is null, and its address returns 403. The others give the link, and return this status there,
 * or as if there were no token.
 */
export const missingScopeForms = ["null-link", "401", "403", "404", "not-authenticated"] as const;
export type MissingScopeForm = (typeof missingScopeForms)[number];
