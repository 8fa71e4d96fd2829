import type { Range } from '#platform/file-store/file-store.ts'

/** The requested range of a resource; undefined for all of it, also when several ranges are requested. */
export function readRange(header: string | undefined, size: number): Range | 'beyond' | undefined {
  const [found, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (!found || (first === '' && last === '')) return undefined
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start > end ? 'beyond' : { start, end }
}
