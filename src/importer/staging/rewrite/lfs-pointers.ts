import { type StoredObject, storeContents } from '#git/lfs-store.ts'
import type { ObjectReader } from '#importer/staging/object-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import type { BlobTreatment } from './tree-walk.ts'

const longestPointer = 1024

/** Stores contents and replaces them by pointers. As in LFS, pointers and empty files stay. */
export function storeInLfs(root: string, reader: ObjectReader, packs: PackWriter): BlobTreatment & { objects(): StoredObject[] } {
  const pointers = new Map<string, string>()
  const stored = new Map<string, StoredObject>()

  async function convert(id: string): Promise<string> {
    const { size, chunks } = await reader.open(id)
    const read: Buffer[] = []
    if (size < longestPointer) for await (const chunk of chunks) read.push(chunk)
    if (size === 0 || pointer.test(Buffer.concat(read).toString('latin1'))) return id
    const object = await storeContents(root, size < longestPointer ? each(read) : chunks)
    stored.set(object.oid, object)
    return packs.add('blob', Buffer.from(describe(object)))
  }

  return {
    attributes: true,
    async replace(id) {
      const pointer = pointers.get(id) ?? (await convert(id))
      pointers.set(id, pointer)
      return pointer
    },
    objects: () => [...stored.values()],
  }
}

/** Leaves out large files. Smaller versions of the same file stay. */
export const removeLarge = (large: ReadonlyMap<string, number>): BlobTreatment => ({
  attributes: false,
  replace: async (id) => (large.has(id) ? null : id),
})

const pointer = /^version https:\/\/(git-lfs|hawser)\.github\.com\/spec\/v1\n/

const describe = ({ oid, size }: StoredObject) => `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

async function* each(chunks: Buffer[]) {
  yield* chunks
}
