import { ImportFailure } from '#importer/source.ts'
import { isForbiddenLink } from '#importer/staging/paths.ts'
import { type Item, objectOf, readItem } from './changesets.ts'
import type { Client } from './client.ts'
import { at } from './contents.ts'
import { Refused, readElements } from './responses.ts'

const maxItems = 5_000_000

/** The folder and everything below it in a changeset. The server sends it without pages. */
export function listItems(client: Client, path: string, version: number): Promise<Item[]> {
  const query = { scopePath: path, recursionLevel: 'Full', ...at(version) }
  const items = client.ask('_apis/tfvc/items', query, 'application/json', async (answer) => {
    const read: Item[] = []
    for await (const raw of readElements(answer)) {
      read.push(readItem(objectOf(raw)))
      if (read.length > maxItems) throw new ImportFailure(`${path} has more than ${maxItems} files.`)
    }
    return read
  })
  return items.catch((error) => {
    if (error instanceof Refused && error.status === 404) return []
    throw error
  })
}

/** Whether it becomes a symbolic link in git. Long links, and links with the name of a file that git reads, do not. */
export function isLink(path: string, { symlink, size }: Item): boolean {
  return symlink && (size === undefined || (size > 0 && size < 4096)) && !isForbiddenLink(Buffer.from(path).toString('latin1'))
}
