import type { Repository } from '#hosting/repositories/repositories.ts'
import { codeOf, type Listed, listed, type Queryable, type Slice, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'

export interface Label {
  id: number
  name: string
  /** Six hexadecimal digits, without `#`. */
  color: string
  description: string | null
}

export const labelColumns = sql`l.id, l.name, l.color, l.description`

/** What a label looks like that somebody only named. */
const plain = 'ededed'

export function listLabels(db: Queryable, repo: Repository, slice: Slice): Promise<Listed<Label>> {
  const source = sql`labels l where l.repo_id = ${repo.id}`
  return listed(db, { columns: labelColumns, source, order: sql`lower(l.name)` }, slice)
}

/** Labels by id, whoever asks: for what shows them in passing. */
export function loadLabels(db: Queryable, ids: number[]): Promise<Label[]> {
  return db.rows(sql`select ${labelColumns} from labels l where l.id = any(${ids})`)
}

export async function loadLabel(db: Queryable, repo: Repository, name: string): Promise<Label> {
  const found = await db.first<Label>(sql`
    select ${labelColumns} from labels l where l.repo_id = ${repo.id} and lower(l.name) = lower(${name})`)
  if (!found) throw missing()
  return found
}

export interface LabelChanges {
  name?: string
  color?: string
  description?: string | null
}

export function createLabel(db: Transaction, repo: Repository, wanted: LabelChanges & { name: string }): Promise<Label> {
  const { name, color = plain, description = null } = wanted
  return write(
    db,
    sql`
    insert into labels as l (repo_id, name, color, description)
    values (${repo.id}, ${checkName(name)}, ${checkColor(color)}, ${description}) returning ${labelColumns}`,
  )
}

export async function updateLabel(db: Transaction, label: Label, changes: LabelChanges): Promise<Label> {
  const held = await db.first<Label>(sql`select ${labelColumns} from labels l where l.id = ${label.id} for no key update`)
  if (!held) throw missing()
  const next = { ...held, ...changes }
  return write(
    db,
    sql`
    update labels l set name = ${checkName(next.name)}, color = ${checkColor(next.color)}, description = ${next.description}
    where l.id = ${held.id} returning ${labelColumns}`,
  )
}

/** It comes off every issue. */
export async function deleteLabel(db: Transaction, { id }: Label) {
  const { rowCount } = await db.query(sql`delete from labels where id = ${id}`)
  if (!rowCount) throw missing()
}

/** The ids of labels by name, in the order of the names. What is not there is made, by those who may; for others it is a fault. */
export async function findLabelIds(db: Transaction, repo: Repository, wanted: string[], makes: boolean): Promise<number[]> {
  const names = wanted.map(checkName)
  // In the order of names, so that two who make the same labels do not wait for each other.
  if (makes && names.length) {
    await db.query(sql`
      insert into labels (repo_id, name, color)
      select distinct on (lower(name)) ${repo.id}::bigint, name, ${plain} from unnest(${names}::text[]) name order by lower(name)
      on conflict do nothing`)
  }
  const found = await db.rows<{ name: string; id: number | null }>(sql`
    select n.name, l.id from unnest(${names}::text[]) with ordinality n (name, place)
      left join labels l on l.repo_id = ${repo.id} and lower(l.name) = lower(n.name)
    order by n.place`)
  const unknown = found.find(({ id }) => id === null)
  if (unknown)
    throw invalid({ resource: 'Label', code: 'missing', field: 'name', message: `there is no label '${unknown.name}'` })
  return [...new Set(found.flatMap(({ id }) => id ?? []))]
}

const longestName = 50

function checkName(wanted: string) {
  const name = wanted.trim()
  if (name === '') throw invalid({ resource: 'Label', code: 'missing_field', field: 'name' })
  if ([...name].length <= longestName) return name
  const message = `name is too long (maximum is ${longestName} characters)`
  throw invalid({ resource: 'Label', code: 'custom', field: 'name', message })
}

function checkColor(color: string) {
  if (/^[0-9a-f]{6}$/i.test(color)) return color.toLowerCase()
  throw invalid({
    resource: 'Label',
    code: 'invalid',
    field: 'color',
    message: 'color must be six hexadecimal digits, without #',
  })
}

async function write(db: Transaction, statement: Sql): Promise<Label> {
  try {
    const row = await db.first<Label>(statement)
    if (!row) throw missing()
    return row
  } catch (error) {
    throw codeOf(error) === '23505' ? invalid({ resource: 'Label', code: 'already_exists', field: 'name' }) : error
  }
}
