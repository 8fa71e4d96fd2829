import { type Html, html } from '../html.ts'

interface Pictured {
  id: number
  login: string
  type?: string
}

/** The picture of an account, without a text: the login stands beside it. An organization's picture is a square. */
export function avatar({ id, type }: Pick<Pictured, 'id' | 'type'>, size: 16 | 20 | 24 | 32 | 40 | 64 | 96 | 240 = 20): Html {
  return html`<img class="avatar${type === 'Organization' && ' square'}" src="/avatars/${id}" alt="" width="${size}" height="${size}" loading="lazy">`
}

/** The picture and the login, as a link to the profile. A deleted account has none. */
export function person(account: Pictured | null, size: 16 | 20 | 24 | 32 = 20): Html {
  return account
    ? html`<a class="person" href="/${account.login}">${avatar(account, size)} <span>${account.login}</span></a>`
    : html`<span class="person muted">a deleted user</span>`
}
