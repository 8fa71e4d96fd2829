import type { Wire } from '#http/serialization.ts'
import { Serialized, serialize } from '#http/serialize.ts'
import { ByteCache } from '#platform/byte-cache.ts'
import type { Database } from '#platform/database.ts'
import { ofDatabase } from '#platform/of-database.ts'
import type { Variant } from '#variants.ts'
import { type CurrentRows, loadCurrent, type Reference, referencesOf } from './current.ts'
import { type EventRow, parseEvent } from './event-rows.ts'
import { EventSchema, eventJson } from './json.ts'
import { recordOf } from './records.ts'

interface Rendered {
  /** The JSON of the event. */
  text: string
  references: Reference[]
  /** Everything that the JSON was made from, as the database returned it. */
  basis: string[]
}

/** In bytes. An event takes about 13 KB, so the last 5,000 events that were shown fit in. */
const mostBytes = 64 * 1024 * 1024
const cacheOf = ofDatabase(() => new ByteCache<Rendered>(mostBytes))

/**
 * The JSON of events. An event is shown in several timelines and again at each poll, and making its JSON takes longer than reading it, so the
 * JSON is kept. What it is made from is read each time and compared, so a change is shown at once, wherever it was made.
 */
export async function renderEvents(db: Database, rows: EventRow[], wire: Wire, variant: Variant): Promise<Serialized> {
  const cache = cacheOf(db)
  const events = rows.map((row) => {
    const key = `${row.id} ${variant.name} ${wire.version} ${wire.brand}`
    const kept = cache.get(key)
    // The references follow from the payload and the facts alone.
    if (kept && kept.basis[0] === row.payload && kept.basis[1] === (row.facts ?? ''))
      return { row, key, kept, references: kept.references }
    const event = parseEvent(row)
    return { row, key, event, references: referencesOf(event) }
  })
  const current = await loadCurrent(
    db,
    events.flatMap(({ references }) => references),
  )
  const texts = events.map(({ row, key, kept, event, references }) => {
    const basis = basisOf(row, references, current, wire)
    if (kept && isSame(kept.basis, basis)) return kept.text
    const text = serialize(EventSchema, eventJson(recordOf(event ?? parseEvent(row), current), wire, variant))
    // A character takes up to two bytes, the rest about a kilobyte.
    const bytes = basis.reduce((sum, { length }) => sum + 2 * length, 2 * text.length + 1000)
    cache.set(key, { text, references, basis }, bytes)
    return text
  })
  return new Serialized(`[${texts.join(',')}]`)
}

function basisOf(row: EventRow, references: Reference[], current: CurrentRows, { api, web }: Wire): string[] {
  const { actor_login, repo_name, repo_private, owner_id, owner_login, owner_type, owner_site_admin } = row
  return [
    row.payload,
    row.facts ?? '',
    `${row.public} ${actor_login} ${repo_name} ${repo_private} ${owner_id} ${owner_login} ${owner_type} ${owner_site_admin} ${api} ${web}`,
    ...references.map(({ table, id }) => current[table].text(id) ?? ''),
  ]
}

const isSame = (one: string[], other: string[]) =>
  one.length === other.length && one.every((text, index) => text === other[index])
