import { timestamp } from '#http/serialization.ts'
import { type Html, xml } from '#web/html.ts'
import type { Entry } from './entries.ts'

export interface FeedDocument {
  title: string
  /** The path of its URL, without a suffix. */
  path: string
  /** The path of the HTML page. */
  page: string
  /** Part of the URL of a private feed. */
  token: string | null
  updated_at: Date
  entries: Entry[]
}

/** An Atom document (RFC 4287), with the ids and elements of the public service's feeds. */
export function atomOf(feed: FeedDocument, web: string): string {
  const tag = `tag:${hostOf(web)},2008:`
  const self = `${web}${feed.path}.atom${feed.token === null ? '' : `?token=${encodeURIComponent(feed.token)}`}`
  return xml`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xml:lang="en-US">
  <id>${tag}${feed.path}</id>
  <link type="text/html" rel="alternate" href="${web}${feed.page}"/>
  <link type="application/atom+xml" rel="self" href="${self}"/>
  <title>${feed.title}</title>
  <updated>${timestamp(feed.updated_at)}</updated>
${feed.entries.map((entry) => writeEntry(entry, tag, web))}</feed>
`.text
}

/** A tag URI (RFC 4151) allows neither brackets nor a port. */
function hostOf(web: string) {
  return new URL(web).hostname.replaceAll(/[[\]]/g, '')
}

/** HTML in an entry is text in XML, so it is escaped twice. */
function writeEntry({ id, type, actor, created_at, link, title, content }: Entry, tag: string, web: string): Html {
  const at = timestamp(created_at)
  return xml`  <entry>
    <id>${tag}${type}/${id}</id>
    <published>${at}</published>
    <updated>${at}</updated>
    <link type="text/html" rel="alternate" href="${link}"/>
    <title type="html">${xml`${title}`.text}</title>
    <author><name>${actor.login}</name>${actor.id !== null && xml`<uri>${web}/${actor.login}</uri>`}</author>
${actor.id !== null && xml`    <media:thumbnail height="30" width="30" url="${web}/avatars/${actor.id}"/>\n`}    <content type="html">${content.text}</content>
  </entry>
`
}
