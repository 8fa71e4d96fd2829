import type { Belfry } from '#belfry.ts'
import { loadUser } from '#identity/accounts.ts'
import { allow, deny, readRequest, SentBack } from '#parts/oauth/authorize.ts'
import { Refusal } from '#platform/errors.ts'
import type { Authorization } from '../protocol.ts'

/** Answers an authorization request of an OAuth application as the page does, for a user who needs no password and no session. */
export async function authorize({ db, addresses }: Belfry, { url, user: login, deny: refused }: Authorization): Promise<string> {
  const asked = URL.parse(url, addresses.web)
  if (asked?.origin !== addresses.web || asked.pathname !== '/login/oauth/authorize') {
    const wanted = `${addresses.web}/login/oauth/authorize?client_id=…`
    throw new Refusal(
      'invalid',
      `"${url}" is not the address of the OAuth flow. Give the one that your program sends users to: ${wanted}`,
    )
  }
  const docs = `${addresses.web}/docs`
  const user = await loadUser(db, login)
  try {
    const request = await readRequest(db, asked.searchParams, docs)
    return refused ? deny(request, docs) : await db.transaction((db) => allow(db, user, request))
  } catch (error) {
    if (error instanceof SentBack) return error.to
    throw error
  }
}
