import { type Database, raw, sql } from './database.ts'
import type { Vault } from './vault.ts'

/** A column of encrypted secrets. */
export interface SealedColumn {
  table: string
  column: string
  /** The column that identifies a row. */
  id: string
  /** The column whose number is in the context of the secret. */
  owner: string
  /** The contexts that a secret of this owner may have. */
  contextsOf(owner: number): string[]
}

/** Rows in one statement. */
const batch = 500

interface Row {
  id: number
  owner: number
  sealed: Buffer
}

async function* readSealed(db: Database, { table, column, id, owner }: SealedColumn): AsyncGenerator<Row[]> {
  for (let after = 0, rows: Row[]; ; after = rows.at(-1)?.id ?? 0) {
    rows = await db.rows<Row>(sql`
      select ${raw(id)}::bigint as id, ${raw(owner)}::bigint as owner, ${raw(column)} as sealed from ${raw(table)}
      where ${raw(column)} is not null and ${raw(id)} > ${after} order by ${raw(id)} limit ${batch}`)
    if (rows.length) yield rows
    if (rows.length < batch) return
  }
}

export interface Renewed {
  /** Secrets that another key encrypted. */
  renewed: number
  current: number
  /** Secrets that no key opens, as `table.column id`: the first hundred. */
  unreadable: string[]
}

/**
 * Encrypts all secrets with the current key, unless `only_count`. May be repeated. A secret that changes meanwhile is left to the next pass, or is
 * encrypted with the current key already.
 */
export async function renewSecrets(
  db: Database,
  vault: Vault,
  columns: SealedColumn[],
  { only_count = false, onBatch = (_: string) => {} } = {},
): Promise<Renewed> {
  const result: Renewed = { renewed: 0, current: 0, unreadable: [] }
  for (const column of columns) {
    for await (const rows of readSealed(db, column)) {
      onBatch(`${column.table}.${column.column}`)
      const changes: { id: number; former: Buffer; next: Buffer }[] = []
      for (const { id, owner, sealed } of rows) {
        const next = renew(vault, sealed, column.contextsOf(owner))
        if (next === 'unreadable') result.unreadable.push(`${column.table}.${column.column} ${id}`)
        else if (next) changes.push({ id, former: sealed, next })
        else result.current++
      }
      result.unreadable.splice(100)
      result.renewed += changes.length
      if (changes.length && !only_count) await store(db, column, changes)
    }
  }
  return result
}

function renew(vault: Vault, sealed: Buffer, contexts: string[]): Buffer | undefined | 'unreadable' {
  for (const context of contexts) {
    try {
      return vault.renew(sealed, context)
    } catch {
      // It may have another context.
    }
  }
  return 'unreadable'
}

async function store(db: Database, { table, column, id }: SealedColumn, changes: { id: number; former: Buffer; next: Buffer }[]) {
  await db.transaction((transaction) =>
    transaction.query(sql`
      update ${raw(table)} t set ${raw(column)} = c.next
      from unnest(${changes.map((each) => each.id)}::bigint[], ${changes.map(({ former }) => former)}::bytea[],
        ${changes.map(({ next }) => next)}::bytea[]) c (id, former, next)
      where t.${raw(id)} = c.id and t.${raw(column)} = c.former`),
  )
}
