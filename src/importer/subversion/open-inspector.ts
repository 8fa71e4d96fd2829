import type { Network, Origin } from '#importer/source.ts'
import type { Connection } from './connection.ts'
import { inspectByDav } from './inspect-dav.ts'
import { inspectByDump } from './inspect-dump.ts'
import { inspectByRaSvn } from './inspect-ra-svn.ts'
import type { Inspector } from './inspector.ts'
import type { Repository } from './projects.ts'

/** Uses the fastest method that the server supports. The last one reads all contents and always works. */
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
