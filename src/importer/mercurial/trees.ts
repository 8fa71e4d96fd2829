import { hash } from 'node:crypto'

/** A file in the tree of its folder. All text is in Latin-1. */
export interface TreeEntry {
  path: string
  folder: string
  mode: string
  id: Buffer
  /** Mode, name and id as git stores them. A string, because a small Buffer would keep its whole pool alive. */
  stored: string
}

export function treeEntry(path: string, mode: string, id: Buffer): TreeEntry {
  const slash = path.lastIndexOf('/')
  const folder = path.slice(0, Math.max(slash, 0))
  return { path, folder, mode, id, stored: `${mode} ${path.slice(slash + 1)}\0${id.toString('latin1')}` }
}

interface Folder {
  name: string
  content: string[]
}

/** Computes the git id of a tree with these files, which are sorted by path. */
export function treeId(entries: Iterable<TreeEntry>): string {
  const open: Folder[] = [{ name: '', content: [] }]
  const close = () => {
    const { name, content } = open.pop() as Folder
    open.at(-1)?.content.push(`40000 ${name}\0${idOf(content).toString('latin1')}`)
  }
  const enter = (folder: string) => {
    const parts = folder === '' ? [] : folder.split('/')
    let common = 0
    while (common < parts.length && open[common + 1]?.name === parts[common]) common++
    while (open.length > common + 1) close()
    for (const name of parts.slice(common)) open.push({ name, content: [] })
    return (open.at(-1) as Folder).content
  }
  let present = ''
  let content = (open[0] as Folder).content
  for (const { folder, stored } of entries) {
    if (folder !== present) content = enter(folder)
    present = folder
    content.push(stored)
  }
  while (open.length > 1) close()
  return idOf((open[0] as Folder).content).toString('hex')
}

const idOf = (content: string[]) => hashTree(content.join(''))

/** The git id of a tree with this content, in Latin-1. */
export function hashTree(content: string): Buffer {
  return hash('sha1', Buffer.from(`tree ${content.length}\0${content}`, 'latin1'), 'buffer')
}
