import type { Readable } from 'node:stream'

/** The SHA-256 of the contents, which is their name in LFS. */
export interface StoredObject {
  oid: string
  size: number
}

export interface Range {
  /** Both ends are included. */
  start: number
  end: number
}

/** The largest size that a client may announce. */
export const mostBytes = 5 * 2 ** 30

export const isOid = (oid: string) => /^[0-9a-f]{64}$/.test(oid)

/** 65,536 folders, as in LFS clients. Both kinds of store have them, so that one can be copied to the other. */
export function pathIn(oid: string) {
  if (!isOid(oid)) throw new Error('an object of the store is named by 64 hexadecimal digits')
  return `${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`
}

/** The contents of Git LFS objects, of release files and of folders of imports, each once, by their SHA-256. */
export interface FileStore extends AsyncDisposable {
  /** Where it is, for operators; without credentials. */
  readonly name: string
  /** The folder of a store on disk. Undefined if the store is on a network, where a transaction must not look. */
  readonly folder: string | undefined
  /** Stores contents after checking their hash. They appear complete or not at all. A null `size` is unknown. */
  store(oid: string, size: number | null, chunks: AsyncIterable<Buffer>): Promise<StoredObject>
  /** Stores contents under the hash that they have. */
  storeContents(chunks: AsyncIterable<Buffer>, most: number): Promise<StoredObject>
  sizeOf(oid: string): Promise<number | undefined>
  /** The contents or a range of them; undefined if they are missing. */
  open(oid: string, range?: Range): Promise<Readable | undefined>
  /** All objects, or those that were stored before a date, some at a time. */
  list(before?: Date): AsyncIterable<StoredObject[]>
  /** Deletes objects, except those that were stored again since `before`. Returns how many. */
  erase(oids: string[], before: Date): Promise<number>
  /** Deletes unfinished uploads that began before a date. Returns how many. */
  eraseDrafts(before: Date): Promise<number>
  /**
   * An address from which anyone can download the object for some minutes; undefined if clients cannot reach the storage. The caller has
   * checked who may read it. `filename` is the name that a browser saves it as.
   */
  signedUrl(oid: string, filename?: string): Promise<SignedUrl | undefined>
  /** Why the storage cannot be used now; undefined if it can. Waits for at most a second. */
  findFault(): Promise<string | undefined>
}

export interface SignedUrl {
  href: string
  /** In seconds. */
  expires_in: number
}
