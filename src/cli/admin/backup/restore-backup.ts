import { createWriteStream, readdirSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import type { ProgressLine } from '#cli/progress.ts'
import { readSettings, type Settings } from '#config.ts'
import { syncRepository } from '#git/fsync.ts'
import { otherRefs } from '#git/repository-files.ts'
import { Storage } from '#git/storage.ts'
import type { Clock } from '#platform/clock.ts'
import { claimDataFolder, makeDataFolder, markRestore } from '#platform/data-folder.ts'
import { Database, sql } from '#platform/database.ts'
import { connectionsTo, primaryFirst } from '#platform/database-servers.ts'
import { type DumpPlan, loadDump } from '#platform/dump.ts'
import { syncFolderNow, writeSynced } from '#platform/durable.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { StartError } from '#platform/errors.ts'
import { type FileStore, isOid } from '#platform/file-store/file-store.ts'
import { openFileStore } from '#platform/file-store/open-store.ts'
import { openLog } from '#platform/log.ts'
import { checkKnown, migrate } from '#platform/migrate.ts'
import type { TarEntry } from '#platform/read-tar.ts'
import { type Completion, checkArchive, type Manifest, readArchive } from './archive.ts'
import { type Silenced, silence } from './silence.ts'

export type Restored = Pick<Manifest, 'belfry' | 'created_at'> & Omit<Completion, 'sha256'> & { silenced: Silenced | null }

export interface RestoreOptions {
  /** The restored server replaces the one of the backup: it sends webhooks and continues imports. */
  live: boolean
}

/** Restores a backup into an empty data folder, and with `DATABASE_URL` into an empty database. A server starts on it only if it finished. */
export async function restoreBackup(
  environment: NodeJS.ProcessEnv,
  clock: Clock,
  path: string,
  progress: ProgressLine,
  { live }: RestoreOptions = { live: false },
): Promise<Restored> {
  const settings = readSettings(environment)
  const data = settings.BELFRY_DATA
  checkEmpty(data)
  const total = statSync(path, { throwIfNoEntry: false })?.size
  if (total === undefined) throw new StartError(`There is no file ${path}.`)
  const { manifest, completion } = await checkArchive(path, (bytes) => progress.show('Checking the backup', bytes / total))
  checkKnown(new Set(manifest.plan.migrations))
  makeDataFolder(data)
  await using undo = new AsyncDisposableStack()
  undo.use(claimDataFolder(data))
  const mark = markRestore(data)
  const connection = await openDatabase(settings, undo)
  await using db = new Database({ ...connection, max: 4 }, clock)
  const storage = new Storage(data)
  await using files = openFileStore(settings, openLog('warn'))
  await migrate(db, new Set(manifest.plan.migrations))
  const show = (bytes: number) => progress.show('Restoring', bytes / total)
  const entries = new Entries(readArchive(path, show))
  await entries.skipTo('secrets.key')
  writeSynced(join(data, 'secrets.key'), (await entries.take()).toString(), 0o600)
  await loadTables(connection, manifest.plan, entries)
  await writeFiles(entries, storage, files)
  await migrate(db)
  await writeAllRefs(db, storage, progress)
  const silenced = live ? null : await db.transaction(silence)
  syncFolderNow(data)
  mark[Symbol.dispose]()
  const { sha256: _, ...counts } = completion
  return { belfry: manifest.belfry, created_at: manifest.created_at, ...counts, silenced }
}

/** A new disk has a folder `lost+found`. */
function checkEmpty(data: string) {
  const found = statSync(data, { throwIfNoEntry: false }) && readdirSync(data).filter((name) => name !== 'lost+found')
  if (found?.length)
    throw new StartError(
      `${data} is not empty (it has ${found[0]}). A backup is restored into an empty folder: set BELFRY_DATA to another one.`,
    )
}

async function openDatabase({ BELFRY_DATA: data, DATABASE_URL: url }: Settings, undo: AsyncDisposableStack) {
  if (url === null) {
    const postgres = await startEmbeddedPostgres(data, openLog('warn'))
    undo.defer(() => postgres.stop())
    return postgres.connection
  }
  const [connection] = await primaryFirst(connectionsTo(url))
  const client = new pg.Client(connection)
  await client.connect()
  const { rowCount } = await client.query(
    "select from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' limit 1",
  )
  await client.end()
  if (rowCount)
    throw new StartError(
      'The database in DATABASE_URL has tables. A backup is restored into an empty database: create another one.',
    )
  return connection
}

/** The entries of an archive one by one, with a look at the next. */
class Entries {
  readonly #entries: AsyncGenerator<TarEntry, void, void>
  next: TarEntry | undefined

  constructor(entries: AsyncGenerator<TarEntry, void, void>) {
    this.#entries = entries
  }

  async advance() {
    this.next = (await this.#entries.next()).value ?? undefined
  }

  async skipTo(name: string) {
    do await this.advance()
    while (this.next && this.next.path !== name)
    if (!this.next) throw new StartError(`The backup has no ${name}.`)
  }

  /** The content of the next entry, after which there is another next one. */
  async take(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const chunk of this.next?.content ?? []) pieces.push(Buffer.from(chunk))
    await this.advance()
    return Buffer.concat(pieces)
  }
}

async function loadTables(connection: pg.ClientConfig, plan: DumpPlan, entries: Entries) {
  const tableOf = () => /^database\/(.+)\/\d+\.gz$/.exec(entries.next?.path ?? '')?.[1]
  async function* rows(name: string) {
    while (tableOf() === name) yield gunzipSync(await entries.take())
  }
  async function* tables() {
    for (let name = tableOf(); name; name = tableOf()) yield { name, rows: rows(name) }
  }
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await loadDump(client, plan, tables())
  } finally {
    await client.end()
  }
}

/** What a path of a backup may be: a damaged one must not write elsewhere. */
const repositoryPath =
  /^repositories\/(\d{1,15})\/((?:HEAD|config|description|other-refs|hooks\/[\w.-]+|objects\/(?:[0-9a-f]{2}|pack)\/[\w-]+(?:\.\w+)?))$/

async function writeFiles(entries: Entries, storage: Storage, files: FileStore) {
  let current: string | undefined
  for (; entries.next; await entries.advance()) {
    const { path, size, mode, content } = entries.next
    const [, id, name] = repositoryPath.exec(path) ?? []
    const oid = path.startsWith('lfs/') ? path.slice(4) : ''
    if (id && name) {
      const folder = storage.pathOf(Number(id))
      if (current !== folder) {
        if (current) await syncRepository(current)
        for (const below of ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags'])
          await mkdir(join(folder, below), { recursive: true, mode: 0o700 })
        current = folder
      }
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await pipeline(
        Readable.from(content, { objectMode: true }),
        createWriteStream(join(folder, name), { mode: mode & 0o755, flags: 'wx' }),
      )
    } else if (isOid(oid)) {
      await files.store(oid, size, content)
    }
  }
  if (current) await syncRepository(current)
}

const batch = 200

interface RecordedRefs {
  id: number
  default_branch: string
  refs: Record<string, string>
  pulls: Record<string, string>
}

/** Refs are those of the database: the files may be younger. */
async function writeAllRefs(db: Database, storage: Storage, progress: ProgressLine) {
  for (let after = 0, rows: RecordedRefs[]; ; after = rows.at(-1)?.id ?? 0) {
    progress.show('Writing refs')
    rows = await db.rows<RecordedRefs>(sql`
      select r.id, r.default_branch,
        coalesce((select json_object_agg(f.name, f.sha) from refs f where f.repo_id = r.id), '{}') as refs,
        coalesce((select json_object_agg(i.number, p.head_sha) from pulls p join issues i on i.id = p.issue_id
          where i.repo_id = r.id), '{}') as pulls
      from repositories r where r.id > ${after} order by r.id limit ${batch}`)
    for (const row of rows) if (storage.has(row.id)) await writeRefs(storage.pathOf(row.id), row)
    if (rows.length < batch) return
  }
}

async function writeRefs(folder: string, { default_branch, refs, pulls }: RecordedRefs) {
  const others = await readFile(join(folder, otherRefs), 'utf8').catch(() => '')
  const all = new Map(Object.entries(refs))
  for (const [, sha = '', name = ''] of others.matchAll(/^(\w+) (.+)$/gm)) {
    const [, number, kind] = /^refs\/pull\/(\d+)\/(.+)$/.exec(name) ?? []
    const recorded = number && pulls[number]
    if (!number) all.set(name, sha)
    else if (recorded) all.set(name, kind === 'head' ? recorded : sha)
  }
  const lines = [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, sha]) => `${sha} ${name}\n`)
  writeFileSync(join(folder, 'HEAD'), `ref: refs/heads/${default_branch}\n`)
  writeSynced(join(folder, 'packed-refs'), lines.join(''), 0o644)
  await rm(join(folder, otherRefs), { force: true })
  syncFolderNow(folder)
}
