import { createHash } from 'node:crypto'

export interface TreeEntry {
  /** In Latin-1; entries come sorted by it. */
  path: string
  mode: string
  id: Buffer
}

interface Folder {
  name: string
  content: Buffer[]
}

/** The id that git gives to a tree of these files, found without git. */
export function treeId(entries: Iterable<TreeEntry>): string {
  const open: Folder[] = [{ name: '', content: [] }]
  const close = () => {
    const { name, content } = open.pop() as Folder
    open.at(-1)?.content.push(Buffer.from(`40000 ${name}\0`, 'latin1'), hash(content))
  }
  for (const { path, mode, id } of entries) {
    const parts = path.split('/')
    const file = parts.pop() as string
    let common = 0
    while (common < parts.length && open[common + 1]?.name === parts[common]) common++
    while (open.length > common + 1) close()
    for (const name of parts.slice(common)) open.push({ name, content: [] })
    open.at(-1)?.content.push(Buffer.from(`${mode} ${file}\0`, 'latin1'), id)
  }
  while (open.length > 1) close()
  return hash((open[0] as Folder).content).toString('hex')
}

function hash(content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return createHash('sha1').update(`tree ${body.length}\0`).update(body).digest()
}
