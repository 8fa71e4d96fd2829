import type { ProgressLine } from '#cli/progress.ts'
import { checkObjects } from '#git/fsck.ts'
import { listDifferingRefs, repairRefs } from '#hosting/pushes/repair-refs.ts'
import { listOrphans, sweepRepositories } from '#hosting/repositories/sweeping.ts'
import { sql } from '#platform/database.ts'
import { eachOf } from '#platform/durable.ts'
import type { Administration } from './administration.ts'
import type { Check } from './checks.ts'

export interface RepositoryChecking {
  fix: boolean
  /** Which objects are checked: none, that they are there, or also what they contain. */
  objects: 'none' | 'connected' | 'contents'
  /** Milliseconds for the objects of all repositories. */
  time: number
  progress: ProgressLine
  say(text: string): void
}

const batch = 200
/** Files that are looked up at a time. */
const atOnce = 8
/** How many findings of a kind are shown. */
const most = 5
/** Milliseconds for the objects of one repository. */
const longest = 300_000
const day = 86_400_000

interface Row {
  id: number
  name: string
  default_branch: string
  /** A job will make its folder. */
  copying: boolean
}

/** Rows against disk, refs against the database, and the objects behind them. */
export async function checkRepositories(admin: Administration, checking: RepositoryChecking): Promise<Check[]> {
  const { db, storage } = admin
  const { progress, fix, say } = checking
  const deadline = performance.now() + checking.time
  const folders = new Findings(
    'folders',
    'have no folder',
    'Run doctor with --fix, which creates empty ones, then push them again.',
  )
  const refs = new Findings(
    'refs',
    'have refs that differ from the database',
    'Run doctor with --fix, or wait for the nightly check.',
  )
  const objects = new Findings(
    'objects',
    'have damaged or missing objects',
    'Restore their folders from a backup, or push the missing commits again.',
  )
  let checked = 0
  let late = 0
  const { total } = await db.load<{ total: number }>(sql`select count(*) as total from repositories`)
  for (let after = 0, rows: Row[]; ; after = rows.at(-1)?.id ?? 0) {
    rows = await listRows(admin, after)
    for (const repo of rows) {
      progress.show(`Checking ${repo.name}`, checked++ / total)
      const path = storage.pathOf(repo.id)
      if (!storage.has(repo.id)) {
        if (repo.copying) continue
        folders.add(repo.name)
        if (!fix) continue
        say(`Creating an empty folder for ${repo.name}: ${path}.`)
        await storage.create(repo.id, repo.default_branch)
        folders.fixed++
      }
      const differing = await listDifferingRefs(db, storage, repo.id)
      if (differing.length) {
        refs.add(`${repo.name} (${differing.slice(0, 3).join(', ')})`)
        if (fix) {
          say(`Repairing ${differing.length} refs of ${repo.name}.`)
          await repairRefs(db, storage, repo.id)
          refs.fixed++
        }
      }
      if (checking.objects === 'none') continue
      const left = Math.min(longest, deadline - performance.now())
      const faults = left > 0 ? await checkObjects(path, left, { contents: checking.objects === 'contents' }) : 'late'
      if (faults === 'late') late++
      else if (faults.length) objects.add(`${repo.name} (${faults[0]})`)
    }
    if (rows.length < batch) break
  }
  return [folders.check(checked), refs.check(checked), ...objectChecks(checking, objects, checked, late)]
}

function objectChecks({ objects: wanted }: RepositoryChecking, objects: Findings, checked: number, late: number): Check[] {
  if (wanted === 'none') return []
  const found = objects.check(checked - late)
  if (!late) return [found]
  const message = `The time was over before ${late} of ${checked} repositories were checked.`
  return [found, { name: 'objects', state: 'warning', message, advice: 'Give more time with --minutes.' }]
}

const listRows = ({ db }: Administration, after: number) =>
  db.rows<Row>(sql`
    select r.id, o.login || '/' || r.name as name, r.default_branch, exists (select from graphile_worker._private_jobs j
        join graphile_worker._private_tasks t on t.id = j.task_id
        where t.identifier in ('copy_repository', 'generate_repository') and (j.payload->>'to_id')::bigint = r.id) as copying
    from repositories r join accounts o on o.id = r.owner_id where r.id > ${after} order by r.id limit ${batch}`)

/** Folders without a row. A server that runs makes a folder before its row, so young ones do not count. */
export async function checkOrphans(
  { db, storage, server, settings }: Administration,
  fix: boolean,
  say: (text: string) => void,
): Promise<Check[]> {
  const alone = server === undefined && settings.DATABASE_URL === null
  const before = new Date(db.now.getTime() - (alone ? 0 : day))
  const orphans = await listOrphans(db, storage, before)
  const advice = 'Run doctor with --fix, or wait for the nightly job.'
  const found = new Findings('orphans', 'belong to no repository', advice, 'warning')
  for (const path of orphans) found.add(path)
  if (fix && orphans.length) {
    say(`Removing folders that belong to no repository: ${orphans.join(', ')}.`)
    found.fixed = (await sweepRepositories(db, storage, before)).length
  }
  return [found.check(orphans.length, 'folders')]
}

/** Files of Git LFS and of releases that rows name. */
export async function checkFiles({ db, files }: Administration, progress: ProgressLine): Promise<Check[]> {
  const found = new Findings('files', 'are missing', 'Restore them from a backup, or upload them again.')
  let checked = 0
  for (let after = '', rows: { oid: string }[]; ; after = rows.at(-1)?.oid ?? '') {
    rows = await db.rows<{ oid: string }>(sql`
      (select oid from lfs_objects where oid > ${after} group by oid order by oid limit ${batch})
      union (select oid from release_assets where oid > ${after} group by oid order by oid limit ${batch})
      order by oid limit ${batch}`)
    progress.show(`Checking files: ${checked}`)
    await eachOf(rows, atOnce, async ({ oid }) => {
      if ((await files.sizeOf(oid)) === undefined) found.add(oid)
    })
    checked += rows.length
    if (rows.length < batch) break
  }
  return [found.check(checked, 'files of Git LFS and releases')]
}

interface StageRow {
  import_id: number
  repo: string
  oid: string
}

/** Folders of complete imports in the bucket. Without one, the import is whole: only importing again takes longer. */
export async function checkStages({ db, files }: Administration, progress: ProgressLine): Promise<Check[]> {
  const found = new Findings('stages', 'are missing', 'Nothing to do: importing again reads the whole source.', 'warning')
  let checked = 0
  for (let after = 0, rows: StageRow[]; ; after = rows.at(-1)?.import_id ?? 0) {
    rows = await db.rows<StageRow>(sql`
      select s.import_id, s.oid, o.login || '/' || r.name as repo from import_stages s join imports i on i.id = s.import_id
      join repositories r on r.id = i.repo_id join accounts o on o.id = r.owner_id
      where s.import_id > ${after} order by s.import_id limit ${batch}`)
    progress.show(`Checking files of imports: ${checked}`)
    await eachOf(rows, atOnce, async ({ oid, repo }) => {
      if ((await files.sizeOf(oid)) === undefined) found.add(repo)
    })
    checked += rows.length
    if (rows.length < batch) break
  }
  return checked ? [found.check(checked, 'stored folders of imports')] : []
}

/** What is wrong with some of many. */
class Findings {
  fixed = 0
  #count = 0
  readonly #shown: string[] = []
  readonly #name: string
  readonly #problem: string
  readonly #advice: string
  readonly #state: Check['state']

  constructor(name: string, problem: string, advice: string, state: Check['state'] = 'failed') {
    this.#name = name
    this.#problem = problem
    this.#advice = advice
    this.#state = state
  }

  add(what: string) {
    this.#count++
    if (this.#shown.length < most) this.#shown.push(what)
  }

  check(of: number, what = 'repositories'): Check {
    if (!this.#count) return { name: this.#name, state: 'ok', message: `Checked ${of} ${what}.` }
    const more = this.#count > this.#shown.length ? ', …' : ''
    const message = `${this.#count} ${what} ${this.#problem}: ${this.#shown.join(', ')}${more}.`
    if (this.fixed) return { name: this.#name, state: 'ok', message: `Fixed: ${message}` }
    return { name: this.#name, state: this.#state, message, advice: this.#advice }
  }
}
