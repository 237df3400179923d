/** How a service shows that a token lacks the scope of a user's bras or measurements. */

/**
 * `null-link`: the link is null, and its address answers 403. The others give the link, and answer there with this status,
 * or as if there were no token.
 */
export const missingScopeForms = ["null-link", "401", "403", "404", "not-authenticated"] as const;
export type MissingScopeForm = (typeof missingScopeForms)[number];
