import { personOf } from '#hosting/issues/authors.ts'
import { claimContents } from '#hosting/lfs/objects.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Database, ifDuplicate, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import type { FileStore, StoredObject } from '#platform/file-store/file-store.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

/** A file of a release. */
export interface Asset extends StoredObject {
  id: number
  release_id: number
  /** The tag of its release. */
  tag_name: string
  name: string
  label: string | null
  content_type: string
  downloads_count: number
  /** A text in the row of a release. */
  created_at: Date | string
  updated_at: Date | string
  uploader: Person | null
}

/** The documented limits. */
export const mostAssets = 1000
export const mostAssetBytes = 2 * 2 ** 30

const columns = sql`s.*, e.tag_name, ${personOf(sql`s.uploader_id`)} as uploader`
const source = sql`release_assets s join releases e on e.id = s.release_id`

export function listAssets(db: Queryable, release: { id: number }, slice: Slice): Promise<Listed<Asset>> {
  return listed(db, { columns, source: sql`${source} where s.release_id = ${release.id}`, order: sql`s.id` }, slice)
}

/** The assets of a release as a column of its row, in the order of their upload. Times are texts there. */
export const assetsOf = (release_id: Sql, tag_name: Sql) => sql`(
  select coalesce(json_agg(json_build_object('id', s.id, 'release_id', s.release_id, 'tag_name', ${tag_name}, 'name', s.name, 'label', s.label,
    'content_type', s.content_type, 'oid', s.oid, 'size', s.size, 'downloads_count', s.downloads_count, 'created_at', s.created_at,
    'updated_at', s.updated_at, 'uploader', ${personOf(sql`s.uploader_id`)}) order by s.id), '[]')
  from release_assets s where s.release_id = ${release_id})`

/** An asset of a release that the caller may see. */
export async function loadAsset(db: Queryable, repo: { id: number }, id: number, sees_drafts: boolean): Promise<Asset> {
  return db.load(sql`
    select ${columns} from ${source}
    where s.id = ${id} and e.repo_id = ${repo.id} and (not e.draft or ${sees_drafts}::boolean)`)
}

/** The asset of a published release, which is downloaded by name. */
export async function loadAssetByName(db: Queryable, repo: { id: number }, tag_name: string, name: string): Promise<Asset> {
  return db.load(sql`
    select ${columns} from ${source}
    where e.repo_id = ${repo.id} and e.tag_name = ${tag_name} and not e.draft and s.name = ${name}`)
}

/** The documented renaming: other characters than these become periods. */
export function assetName(given: string) {
  const name = given
    .replaceAll(/[^\w.+@-]+/g, '.')
    .replaceAll(/\.{2,}/g, '.')
    .replaceAll(/^\.|\.$/g, '')
  if (name === '' || name.length > 255) throw invalid({ resource: 'ReleaseAsset', code: 'invalid', field: 'name' })
  return name
}

export async function addAsset(
  db: Transaction,
  files: FileStore,
  release: { id: number },
  uploader: Account,
  { name, label, content_type, oid, size }: Pick<Asset, 'name' | 'label' | 'content_type' | 'oid' | 'size'>,
): Promise<Asset> {
  await claimContents(db, files, [oid])
  // Concurrent uploads to a release take turns, so that they are counted.
  const held = await db.query(sql`select from releases where id = ${release.id} for no key update`)
  if (!held.rowCount) throw missing()
  await checkRoom(db, release)
  const { id } = await db
    .load<{ id: number }>(sql`
    insert into release_assets (release_id, name, label, content_type, oid, size, uploader_id, created_at, updated_at)
    values (${release.id}, ${name}, ${label}, ${content_type}, ${oid}, ${size}, ${uploader.id}, ${db.now}, ${db.now}) returning id`)
    .catch(taken)
  return load(db, id)
}

/** Also before an upload, which may take long. */
export async function checkRoom(db: Queryable, release: { id: number }) {
  const { total } = await db.load<{ total: number }>(
    sql`select count(*) as total from release_assets where release_id = ${release.id}`,
  )
  if (total < mostAssets) return
  const message = `A release has at most ${mostAssets} assets.`
  throw invalid({ resource: 'ReleaseAsset', code: 'custom', field: 'release', message })
}

export async function checkNameFree(db: Queryable, release: { id: number }, name: string) {
  const { rowCount } = await db.query(sql`select from release_assets where release_id = ${release.id} and name = ${name}`)
  if (rowCount) throw nameTaken()
}

export async function updateAsset(db: Transaction, asset: Asset, changes: { name?: string; label?: string | null }) {
  const { name, label } = { ...asset, ...changes }
  await db
    .query(sql`update release_assets set name = ${name}, label = ${label}, updated_at = ${db.now} where id = ${asset.id}`)
    .catch(taken)
  return load(db, asset.id)
}

/** The sweep deletes the contents. */
export async function deleteAsset(db: Transaction, { id }: Asset) {
  await db.query(sql`delete from release_assets where id = ${id}`)
}

export async function countDownload(db: Database, { id }: Asset) {
  await db.query(sql`update release_assets set downloads_count = downloads_count + 1 where id = ${id}`)
}

const load = (db: Queryable, id: number) => db.load<Asset>(sql`select ${columns} from ${source} where s.id = ${id}`)

const nameTaken = () => invalid({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' })
const taken = ifDuplicate(nameTaken)
