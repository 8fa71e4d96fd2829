import type { EventRecord } from '#parts/timelines/records.ts'
import { type Link, sentenceOf } from '#parts/timelines/sentences.ts'
import { type Html, xml } from '#web/html.ts'

/** An event, or something else that happened, as a feed shows it. */
export interface Entry {
  /** Unique among the entries of its type. */
  id: number | string
  type: string
  /** Without an id, a name that belongs to no account. */
  actor: { id: number | null; login: string }
  created_at: Date
  /** The page that shows the event best. */
  link: string
  title: string
  /** The title with links, and the text that follows it. */
  content: Html
}

export function entryOf(record: EventRecord, web: string): Entry {
  const { id, type, created_at, actor_id, actor_login: login } = record.event
  const { words, link, commits = [], other_commits = 0, title, text } = sentenceOf([record], web)
  const sentence = [{ name: login, href: `${web}/${login}` }, ' ', ...words]
  const list = commits.map(
    ({ sha, href, message }) => xml`<li><code>${anchor({ name: sha.slice(0, 7), href })}</code> ${message}</li>`,
  )
  const others = other_commits > 0 && paragraph(`and ${other_commits} more`)
  return {
    id,
    type,
    actor: { id: actor_id, login },
    created_at,
    link,
    title: sentence.map((word) => (typeof word === 'string' ? word : word.name)).join(''),
    content: xml`<p>${sentence.map((word) => (typeof word === 'string' ? word : anchor(word)))}</p>${list.length > 0 && xml`<ul>${list}</ul>`}${others}${paragraph(title)}${paragraph(text)}`,
  }
}

const anchor = ({ name, href }: Link) => xml`<a href="${href}">${name}</a>`

const paragraph = (text: string | null | undefined) => xml`${text && xml`<p>${text}</p>`}`
