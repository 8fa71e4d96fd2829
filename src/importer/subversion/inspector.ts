import type { Traits } from './gitattributes.ts'
import type { IgnoreLists } from './gitignore.ts'

/** Lists folders of a server with checksums, without contents. */
export interface Inspector extends AsyncDisposable {
  /** Paths begin at the root of the repository. Known files need no checksum. */
  list(path: string, number: number, isKnown: (name: string, changed: number) => boolean): Promise<Folder>
}

export interface Folder {
  entries: Listed[]
  /** Empty if ignore lists are not converted. */
  lists: IgnoreLists
}

export interface Listed {
  name: string
  folder: boolean
  /** The last revision that changed it, or anything in the folder. */
  changed: number
  md5: string
  executable: boolean
  special: boolean
  /** May have no more than `eol` if attributes are not converted, and be empty if the file is known. */
  traits: Traits
}

/** The kinds of files that are made of properties. */
export interface MadeFiles {
  ignores?: boolean
  attributes?: boolean
}
