import { Refusal } from '#platform/errors.ts'

/** From which delivery a list goes on, and which way. */
export interface Cursor {
  id: number
  towards: 'older' | 'newer'
}

const endings = { older: '', newer: '_prev' }

export function writeCursor({ id, towards }: Cursor): string {
  return `v1_${id}${endings[towards]}`
}

/** Ids have as many digits as paths may name. */
export function readCursor(text: string): Cursor | null {
  if (text === '') return null
  const [, id, back] = /^v1_(\d{1,15})(_prev)?$/.exec(text) ?? []
  if (!id) throw new Refusal('malformed', 'The cursor is not one of this list. Take it from the Link header.')
  return { id: Number(id), towards: back ? 'newer' : 'older' }
}
