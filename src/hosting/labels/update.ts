import { publish } from '#activity/publish.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { ifDuplicate, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { type Label, labelColumns } from './labels.ts'

/** The colour of a label that was created by its name only. */
const plain = 'ededed'

export interface LabelChanges {
  name?: string
  color?: string
  description?: string | null
}

export async function createLabel(
  db: Transaction,
  repo: Repository,
  creator: Account,
  { name, color = plain, description = null }: LabelChanges & { name: string },
): Promise<Label> {
  const label = await db
    .load<Label>(sql`
    insert into labels as l (repo_id, name, color, description)
    values (${repo.id}, ${checkName(name)}, ${checkColor(color)}, ${description}) returning ${labelColumns}`)
    .catch(taken)
  await publish(db, creator, repo, { act: 'label.created', label_id: label.id })
  return label
}

export async function updateLabel(db: Transaction, repo: Repository, editor: Account, { id }: Label, changes: LabelChanges) {
  const held = await db.load<Label>(
    sql`select ${labelColumns} from labels l where l.id = ${id} and l.repo_id = ${keptId(repo)} for no key update`,
  )
  const next = { ...held, ...changes }
  const label = await db
    .load<Label>(sql`
    update labels l set name = ${checkName(next.name)}, color = ${checkColor(next.color)}, description = ${next.description}
    where l.id = ${id} returning ${labelColumns}`)
    .catch(taken)
  const edits = changesOf(held, label, 'name', 'color', 'description')
  if (edits) await publish(db, editor, repo, { act: 'label.edited', label_id: id, changes: edits })
  return label
}

/** Also removes the label from every issue. */
export async function deleteLabel(db: Transaction, repo: Repository, editor: Account, { id }: Label) {
  await db.load(sql`select id from labels where id = ${id} and repo_id = ${keptId(repo)} for update`)
  await publish(db, editor, repo, { act: 'label.deleted', label_id: id })
  await db.query(sql`delete from labels where id = ${id}`)
}

/** The ids of labels by name, in the order of the names. Missing labels are created with push access, and refused without it. */
export async function findLabelIds(db: Transaction, repo: Repository, editor: Account, wanted: string[], makes: boolean) {
  const names = wanted.map(checkName)
  const found = await findByName(db, repo, names)
  const isMissing = ({ id }: FoundLabel) => id === null
  if (makes && found.some(isMissing)) {
    // In the order of names, so that concurrent creations do not deadlock.
    const made = await db.rows<{ id: number }>(sql`
      insert into labels (repo_id, name, color)
      select distinct on (lower(name)) ${repo.id}::bigint, name, ${plain} from unnest(${names}::text[]) name order by lower(name)
      on conflict do nothing returning id`)
    await publish(db, editor, repo, ...made.map((label) => ({ act: 'label.created' as const, label_id: label.id })))
    return idsOf(await findByName(db, repo, names))
  }
  const unknown = found.find(isMissing)
  if (unknown)
    throw invalid({ resource: 'Label', code: 'missing', field: 'name', message: `there is no label '${unknown.name}'` })
  return idsOf(found)
}

interface FoundLabel {
  name: string
  id: number | null
}

const findByName = (db: Transaction, repo: Repository, names: string[]) =>
  db.rows<FoundLabel>(sql`
    select n.name, l.id from unnest(${names}::text[]) with ordinality n (name, place)
      left join labels l on l.repo_id = ${repo.id} and lower(l.name) = lower(n.name)
    order by n.place`)

const idsOf = (found: FoundLabel[]) => [...new Set(found.flatMap(({ id }) => id ?? []))]

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

const taken = ifDuplicate(() => invalid({ resource: 'Label', code: 'already_exists', field: 'name' }))
