import type { Row } from '../answer.ts'
import type { Context } from '../check.ts'
import { eventOf, type Received } from '../receiver.ts'
import { delivery } from '../resources.ts'
import { listOf } from '../shape.ts'

export const isOf = (event: string) => (received: Received) => eventOf(received) === event

/** The record of a delivery that the receiver got, once the server has written it down. */
export async function recorded({ me }: Context, path: string, what: string, wanted: (row: Row) => boolean): Promise<Row> {
  const answer = await me.until(`${path}/deliveries?per_page=100`, `a delivery with ${what}`, (list) =>
    list.is(200).list().some(wanted),
  )
  return answer.matches(listOf(delivery)).list().find(wanted) ?? {}
}

export async function pinged(context: Context, fields: Row = {}) {
  const made = await context.workspace.receivingHook(fields)
  const ping = (await context.me.post(`${made.path}/pings`)).is(204)
  const received = await made.inbox.wait('a ping', isOf('ping'))
  return { ...made, ping, received }
}
