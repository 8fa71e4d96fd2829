import { decode } from './changeset.ts'

/** The node of a tag and its former nodes, in hexadecimal. */
interface Tag {
  node: string
  history: string[]
}

/** Merges the `.hgtags` files of the heads, given from the oldest to the newest. */
export function mergeTags(texts: Buffer[]): Map<string, string> {
  const all = new Map<string, Tag>()
  for (const text of texts) {
    for (const [name, tag] of parseTags(text)) all.set(name, supersede(all.get(name), tag))
  }
  const none = '0'.repeat(40)
  return new Map([...all].map(([name, { node }]) => [name, node] as const).filter(([, node]) => node !== none))
}

/** Has a line for each change of a tag. A deleted tag has the null revision. */
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

/**
 * Mercurial's rule: the newer tag wins, unless its node is in the history of the older one, and the older node is not in the history of the
 * newer one or the older history is longer.
 */
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
