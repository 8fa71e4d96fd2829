import { join } from 'node:path'
import { Readable } from 'node:stream'
import { icon } from '#web/components/icon.ts'
import { typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { findDestinations } from './palette.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [show('/search/palette', answer)]

/** JSON for the script of the command palette. Each icon is sent once. */
async function answer({ db, visitor, query }: Visit): Promise<Outcome> {
  const q = typed(query, 'q').slice(0, 100)
  const groups = await findDestinations(db, { visitor, q, here: typed(query, 'here').slice(0, 150) })
  const names = new Set(groups.flatMap(({ items }) => items.map((item) => item.icon)))
  const icons = Object.fromEntries([...names].map((name) => [name, icon(name).text]))
  return {
    file: Readable.from([JSON.stringify({ groups, icons })]),
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
  }
}
