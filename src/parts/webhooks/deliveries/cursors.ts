import { Refusal } from '#platform/errors.ts'

/** The delivery where a page starts, and the direction. */
export interface Cursor {
  id: number
  towards: 'older' | 'newer'
}

const endings = { older: '', newer: '_prev' }

export function writeCursor({ id, towards }: Cursor): string {
  return `v1_${id}${endings[towards]}`
}

/** Ids have at most 15 digits, as in paths. */
export function readCursor(text: string): Cursor | null {
  if (text === '') return null
  const [, id, back] = /^v1_(\d{1,15})(_prev)?$/.exec(text) ?? []
  if (!id) throw new Refusal('malformed', 'The cursor is not valid. Take it from the Link header.')
  return { id: Number(id), towards: back ? 'newer' : 'older' }
}
