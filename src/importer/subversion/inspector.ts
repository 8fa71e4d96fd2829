import type { Network, Origin } from '#importer/source.ts'
import type { Connection } from './connection.ts'
import type { IgnoreLists } from './gitignore.ts'
import { inspectByDav } from './inspect-dav.ts'
import { inspectByDump } from './inspect-dump.ts'
import { inspectByRaSvn } from './inspect-ra-svn.ts'
import type { Repository } from './projects.ts'

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

/** The quickest way that a server offers; the last one reads all contents, but goes wherever the import went. */
export async function openInspector(
  origin: Origin,
  repository: Repository,
  connection: Connection,
  network: Network,
  ignores = false,
): Promise<Inspector> {
  const quick = repository.root.startsWith('svn:')
    ? await inspectByRaSvn(origin, repository, network, ignores)
    : await inspectByDav(origin, repository, network, ignores)
  return quick ?? inspectByDump(repository, connection, ignores)
}
