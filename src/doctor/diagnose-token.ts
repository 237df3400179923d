/** Whether the service still takes an account's token for hers: accepted, not accepted, another user's, or not to be asked. */
import { isSameUser, nameOfUser, userOf } from "../mirror/account-user.ts";
import { grantNames } from "../mirror/grants.ts";
import { ServiceError } from "../service/service-error.ts";
import { askWhoseToken, type WhoseToken } from "../sync/ask-whose-token.ts";
import { type Diagnosis, diagnoseError } from "./diagnosis.ts";

/** An account, as far as its token must fit it. */
export interface TokenOwner {
  readonly name: string;
  readonly userId: number | null;
  readonly username: string | null;
}

export async function diagnoseToken(owner: TokenOwner, asked: WhoseToken): Promise<Diagnosis> {
  try {
    const { scopes, ...user } = await askWhoseToken(asked);
    const [hers, seen] = [userOf(owner), userOf(user)];
    if (!isSameUser(hers, seen)) {
      return {
        isWell: false,
        what: `The token of the account ${owner.name} is of ${nameOfUser(seen)}, and the account is of ${nameOfUser(hers)}`,
        hint: `\`armoire account add ${owner.name}\` takes a token of ${nameOfUser(hers)}.`,
      };
    }
    const missing = grantNames.filter((scope) => !scopes.includes(scope));
    return {
      isWell: true,
      what: `The service at ${asked.baseUrl} accepts the token of the account ${owner.name}, which grants ${scopes.join(", ")}`,
      hint: missing.length === 0 ? null : `Not granted: ${missing.join(", ")}.`,
    };
  } catch (error) {
    if (error instanceof ServiceError && error.next === "stop-allowance") {
      const what = `Whether the service accepts the token of the account ${owner.name} was not asked: the allowance is spent`;
      return { isWell: true, what, hint: "Ask again after it is renewed." };
    }
    const diagnosis = diagnoseError(error);
    const isRefused = error instanceof Error && "code" in error && error.code === "refused";
    return isRefused
      ? { ...diagnosis, hint: `${diagnosis.hint} \`armoire account add ${owner.name}\` takes it.` }
      : diagnosis;
  }
}
