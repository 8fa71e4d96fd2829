import type { Page } from '#http/paging.ts'
import type { Caller } from '#identity/callers.ts'
import { allows, type Permission } from '#identity/permissions.ts'
import { Refusal } from '#platform/errors.ts'

/** One page of what a search found. */
export interface Results<Row> {
  rows: Row[]
  total: number
  /** The words and phrases that were searched for. */
  terms: string[]
  /** The search ended before it had looked at everything. */
  incomplete?: boolean
}

/** A search gives the first thousand results. */
export const mostResults = 1000

/** Refuses pages after the thousandth result, and cuts the one that has it. */
export function sliceOf({ limit, offset }: Page) {
  if (offset >= mostResults) throw new Refusal('invalid', `Only the first ${mostResults} search results are available.`)
  return { limit: Math.min(limit, mostResults - offset), offset }
}

/** A fine-grained token without a permission finds public records only. */
export function searcherOf(caller: Caller, ...permissions: Permission[]) {
  const { token } = caller
  const limited = token?.kind === 'fine_grained' && !permissions.every((permission) => allows(token.permissions, permission))
  return { ...caller, login: caller.user?.login ?? null, ...(limited && { sees_private: false }) }
}
