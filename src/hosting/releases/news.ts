import { changesOf } from '#hosting/payloads/edited-fields.ts'
import type { News } from '#hosting/payloads/news.ts'
import type { Release } from './releases.ts'

type Payload = Extract<News, { event: 'release' }>['payload']

/** What is published without having been a draft is made and published at once. */
export function creationNews(release: Release): News[] {
  return tell(release, { action: 'created' }, ...(release.draft ? [] : publications(release)))
}

export function changeNews(before: Release, after: Release): News[] {
  const edited = details.some((field) => before[field] !== after[field])
  const changes = changesOf(before, after, 'name', 'body', 'tag_name').changes ?? {}
  return tell(after, ...(edited ? [{ action: 'edited', changes } as const] : []), ...turns(before, after))
}

const details = ['name', 'body', 'tag_name', 'target_commitish', 'prerelease'] as const

function turns(before: Release, after: Release): Told[] {
  if (before.draft) return after.draft ? [] : publications(after)
  if (after.draft) return [{ action: 'unpublished' }]
  return before.prerelease && !after.prerelease ? [{ action: 'released' }] : []
}

const publications = ({ prerelease }: Release): Told[] => [
  { action: 'published' },
  { action: prerelease ? 'prereleased' : 'released' },
]

type Told = Omit<Payload, 'release_id'>

function tell({ id: release_id }: Release, ...told: Told[]): News[] {
  return told.map((one) => ({ event: 'release', payload: { ...one, release_id } }))
}
