import { type Name, namesIn, type Reference } from '#web/markdown/names.ts'
import { parseMarkdown } from '#web/markdown/parse.ts'

export interface Mentions {
  users: string[]
  teams: { org: string; slug: string }[]
}

/** How many users, and how many teams, one text can notify. */
const most = 50

/**
 * Distinct mentions in a Markdown text, in lower case, in order. Does not check whether they exist. Names in a quote do not notify
 * again. With `quoted` they are found too, to show them as links.
 */
export async function findMentions(text: string, { quoted = false } = {}): Promise<Mentions> {
  const users = new Set<string>()
  const teams = new Map<string, { org: string; slug: string }>()
  for (const name of await findNames(text, quoted)) {
    if ('user' in name && users.size < most) users.add(name.user)
    if ('org' in name && teams.size < most) teams.set(`${name.org}/${name.slug}`, name)
  }
  return { users: [...users], teams: [...teams.values()] }
}

/** Distinct issues and pull requests that a text refers to, at most as many as it can mention users. Those in a quote do not count. */
export async function findReferences(text: string): Promise<Reference[]> {
  if (!text.includes('#')) return []
  const found = new Map<string, Reference>()
  for (const name of await findNames(text, false)) {
    if ('reference' in name && found.size < most) found.set(JSON.stringify(name.reference), name.reference)
  }
  return [...found.values()]
}

async function findNames(text: string, quoted: boolean) {
  // Most texts have no mention and need no parser.
  if (!/[@#]/.test(text)) return []
  const parsed = await parseMarkdown(text)
  if (!parsed) return findPlainNames(text, quoted)
  const names: Name[] = []
  let quotes = 0
  for (const { type, children } of parsed.tokens) {
    if (type === 'blockquote_open') quotes++
    if (type === 'blockquote_close') quotes--
    if (quotes > 0 && !quoted) continue
    for (const child of children ?? []) if (child.type === 'name') names.push(child.meta as Name)
  }
  return names
}

const longestPlain = 256 * 1024

/** Searches the plain text for mentions when the text exceeds the limits of the parser. */
function findPlainNames(text: string, quoted: boolean): Name[] {
  const cut = text.slice(0, longestPlain)
  return [...namesIn(quoted ? cut : cut.replaceAll(/^ {0,3}>.*$/gm, ''))].map(({ name }) => name)
}
