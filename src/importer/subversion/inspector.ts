import type { IgnoreLists } from './gitignore.ts'

/** Asks a server what is in its folders, by checksums: no content is sent. */
export interface Inspector extends AsyncDisposable {
  /** Paths are from the repository's root on. Of files that are known, nothing more need be found out. */
  list(path: string, number: number, isKnown: (name: string, changed: number) => boolean): Promise<Folder>
}

export interface Folder {
  entries: Listed[]
  /** What is to be ignored in it; nothing where that is of no interest. */
  lists: IgnoreLists
}

export interface Listed {
  name: string
  folder: boolean
  /** The revision that changed it last: with all that is in it, for a folder. */
  changed: number
  md5: string
  executable: boolean
  special: boolean
}
