import { decode } from './changeset.ts'

/** Where a tag is, and where it was before, both as digits. */
interface Tag {
  node: string
  history: string[]
}

/** What the heads' files of tags say together, given from the oldest to the newest. */
export function mergeTags(texts: Buffer[]): Map<string, string> {
  const all = new Map<string, Tag>()
  for (const text of texts) {
    for (const [name, tag] of parseTags(text)) all.set(name, supersede(all.get(name), tag))
  }
  const none = '0'.repeat(40)
  return new Map([...all].map(([name, { node }]) => [name, node] as const).filter(([, node]) => node !== none))
}

/** A line for each time that a tag was set; a tag that is gone is set to the null revision. */
function parseTags(text: Buffer): Map<string, Tag> {
  const tags = new Map<string, Tag>()
  for (const line of decode(text).split(/\r\n|\r|\n/)) {
    const [, node, rest] = /^((?:[0-9a-f]{2})+) (.*)$/is.exec(line) ?? []
    const name = rest?.trim()
    if (!node || !name) continue
    const before = tags.get(name)
    tags.set(name, { node: node.toLowerCase(), history: before ? [...before.history, before.node] : [] })
  }
  return tags
}

/** Mercurial's rule: the newer one wins, unless the older knows it as its past, and is not itself in the newer one's, or knows more. */
function supersede(older: Tag | undefined, newer: Tag): Tag {
  if (!older) return newer
  const olderWins =
    older.node !== newer.node &&
    older.history.includes(newer.node) &&
    (!newer.history.includes(older.node) || older.history.length > newer.history.length)
  return {
    node: olderWins ? older.node : newer.node,
    history: [...newer.history, ...older.history.filter((node) => !newer.history.includes(node))],
  }
}
