/** An issue or pull request by its number. Without owner and repo, it is in the repository of the text. */
export interface Reference {
  owner: string | null
  repo: string | null
  number: number
}

export type Name = { user: string } | { org: string; slug: string } | { reference: Reference } | { address: string }

const login = '[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}'
const slug = String.raw`\w(?:\w|-(?=\w)){0,99}`

/** Only a Latin letter next to a name makes it part of a longer word, because other scripts write names without spaces around them. */
const letter = String.raw`\p{Script=Latin}\p{Nd}_`

const mention = String.raw`(?<![${letter}/.@\x60\-])@(?<user>${login})(?:/(?<slug>${slug}))?(?![${letter}@/]|[.\-]+[${letter}])`
const reference = String.raw`(?<![${letter}/.@#&\x60\-])(?:(?<owner>${login})/(?<repo>[\w.\-]{1,100}))?#(?<number>[1-9]\d{0,9})(?![${letter}])`
const address = String.raw`(?<![${letter}])(?<address>https?://[^\s<>"\x60]*[^\s<>"\x60.,:;!?*_~'\)\]])`

/** Each repetition has a bound or an end that is found once, so the time is linear. */
const anyName = new RegExp(`${address}|${mention}|${reference}`, 'gu')

/** Names in text without markup, with their positions, in order. A bare address counts as a name, so that no name is found inside it. */
export function* namesIn(text: string): Generator<{ start: number; end: number; name: Name }> {
  for (const { index: start, 0: whole, groups = {} } of text.matchAll(anyName)) {
    const name = nameOf(groups)
    if (name) yield { start, end: start + whole.length, name }
  }
}

function nameOf({ address, user, slug, owner, repo, number }: Record<string, string | undefined>): Name | undefined {
  if (address) return { address }
  if (user) return slug ? { org: user.toLowerCase(), slug: slug.toLowerCase() } : { user: user.toLowerCase() }
  // Numbers are int4 in the database.
  if (Number(number) >= 2 ** 31) return undefined
  return { reference: { owner: owner?.toLowerCase() ?? null, repo: repo?.toLowerCase() ?? null, number: Number(number) } }
}
