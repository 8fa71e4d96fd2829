import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import pg from 'pg'
import type { ProgressLine } from '#cli/progress.ts'
import { listRepositoryFiles } from '#git/repository-files.ts'
import { beginSnapshot, type DumpPlan, dumpTable } from '#platform/dump.ts'
import type { Administration } from '../administration.ts'
import { lockKeys } from '../keys-lock.ts'
import { ArchiveWriter, type Completion, completionName, type Manifest, manifestName } from './archive.ts'

const compress = promisify(gzip)

/** Rows are stored in parts of so many bytes, because an entry of an archive begins with its size. */
const partSize = 8 << 20

export type Backup = Completion & { bytes: number; tables: number }

/**
 * Writes a backup while the server runs. The database comes first, in one snapshot. Then the files, which are never older than the snapshot:
 * objects are only added, and the restore takes refs from the database, not from disk.
 */
export async function createBackup(
  admin: Administration,
  path: string,
  progress: ProgressLine,
  with_files: boolean,
): Promise<Backup> {
  await using archive = await ArchiveWriter.open(path, admin.clock.now())
  const { ids, plan } = await addDatabase(admin, archive, progress)
  const without_folder: number[] = []
  for (const [index, id] of ids.entries()) {
    progress.show(`Repository ${index + 1} of ${ids.length}`, index / ids.length)
    if (!(await addRepository(admin, archive, id))) without_folder.push(id)
  }
  const files = with_files ? await addFiles(admin, archive, progress) : 0
  const repositories = ids.length - without_folder.length
  const completion: Completion = { sha256: archive.sha256, repositories, files, without_folder }
  await archive.add(completionName, Buffer.from(JSON.stringify(completion)))
  await archive.finish()
  return { ...completion, bytes: archive.bytes, tables: plan.tables.length }
}

async function addDatabase({ connection, settings, clock }: Administration, archive: ArchiveWriter, progress: ProgressLine) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await lockKeys(client, 'shared')
    const plan = await beginSnapshot(client)
    // Loaded here only, because it loads the whole server: half a second for every other command.
    const { version } = await import('#start.ts')
    const manifest: Manifest = { format: 1, belfry: version, created_at: clock.now().toISOString(), plan }
    await archive.add(manifestName, Buffer.from(JSON.stringify(manifest)))
    await archive.add('secrets.key', readFileSync(join(settings.BELFRY_DATA, 'secrets.key')))
    for (const [index, table] of plan.tables.entries()) {
      progress.show(`Database: ${table.name}`, index / plan.tables.length)
      await addTable(client, table, archive)
    }
    const { rows } = await client.query<{ id: string }>('select id from public.repositories order by id')
    await client.query('commit')
    return { ids: rows.map(({ id }) => Number(id)), plan }
  } finally {
    await client.end()
  }
}

async function addTable(client: pg.Client, table: DumpPlan['tables'][number], archive: ArchiveWriter) {
  let pieces: Buffer[] = []
  let size = 0
  let part = 0
  const flush = async () => {
    const name = `database/${table.name}/${String(part++).padStart(8, '0')}.gz`
    await archive.add(name, await compress(Buffer.concat(pieces), { level: 1 }))
    pieces = []
    size = 0
  }
  for await (const chunk of dumpTable(client, table) as AsyncIterable<Buffer>) {
    pieces.push(chunk)
    size += chunk.length
    if (size >= partSize) await flush()
  }
  if (size) await flush()
}

/** False if there is no folder. */
async function addRepository({ storage }: Administration, archive: ArchiveWriter, id: number): Promise<boolean> {
  if (!storage.has(id)) return false
  for await (const { path, size, mode, content } of listRepositoryFiles(storage.pathOf(id)))
    await archive.addStream(`repositories/${id}/${path}`, size, content, mode)
  return true
}

/** Contents of Git LFS and of releases, and stored folders of imports, by their hash: those that no row names do no harm. */
async function addFiles({ files: store }: Administration, archive: ArchiveWriter, progress: ProgressLine): Promise<number> {
  let files = 0
  for await (const objects of store.list()) {
    for (const { oid, size } of objects) {
      // The nightly job may have deleted it meanwhile.
      const content = await store.open(oid)
      if (!content) continue
      progress.show(`Large files: ${++files}`)
      await archive.addStream(`lfs/${oid}`, size, content)
    }
  }
  return files
}
