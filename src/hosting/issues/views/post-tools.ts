import { hash } from 'node:crypto'
import { composer } from '#hosting/mentions/views/composer.ts'
import { type Content, contents, type ReactionCounts } from '#hosting/reactions/reactions.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Refusal } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { type MenuItem, menu } from '#web/components/menu.ts'
import { alert } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import type { Typed } from './conversation.ts'

/** A text of a conversation, as its forms name it. */
export interface Written {
  /** The anchor of its post. */
  id: string
  /** The forms are sent to addresses below this path. */
  path: string
  /** See `windowIn`. */
  window: string
  body: string | null
}

export const emojis: Record<Content, [emoji: string, name: string]> = {
  '+1': ['👍', 'thumbs up'],
  '-1': ['👎', 'thumbs down'],
  laugh: ['😄', 'laugh'],
  hooray: ['🎉', 'hooray'],
  confused: ['😕', 'confused'],
  heart: ['❤️', 'heart'],
  rocket: ['🚀', 'rocket'],
  eyes: ['👀', 'eyes'],
}

const actionOf = ({ path, window }: Written, verb: string) => `${path}/${verb}${window && `?${window}`}`
const backTo = ({ path, window, id }: Written) => `${path}${window && `?${window}`}#${id}`
const asking = ({ path, window, id }: Written, what: string, anchor = id) =>
  `${path}?${window && `${window}&`}${what}=${id}#${anchor}`

/** A page has this for each post, so it is short; screen readers read the name of an emoji. */
const choices = html`<div class="reaction-choices">${contents.map((content) => html`<button name="content" value="${content}" title="${emojis[content][1]}">${emojis[content][0]}</button>`)}</div>`

/** The reactions to a text. The visitor's own are pressed; pressing one again removes it. `may` says whether the visitor can react. */
export function reactionBar(visit: Visit, written: Written, counts: ReactionCounts, own: Set<string>, may: boolean): Html {
  const given = contents.filter((content) => counts?.[content])
  if (!may && !given.length) return html``
  if (!may) {
    return html`<p class="reactions">${given.map((content) => html`<span class="reaction">${sign(content)} ${counts?.[content]}</span> `)}</p>`
  }
  const pressed = (content: Content) =>
    html`<button class="reaction" name="content" value="${content}" aria-pressed="${own.has(content) ? 'true' : 'false'}">${sign(content)} ${counts?.[content]}</button> `
  const add = menu(icon('smiley'), [{ markup: choices }], {
    label: 'Add a reaction',
    align: 'start',
    kind: 'reaction-menu',
  })
  return form(
    visit,
    actionOf(written, 'reactions'),
    html`<input type="hidden" name="post" value="${written.id}">${add}${given.map(pressed)}`,
    {
      class: 'reactions',
      replace: true,
    },
  )
}

const sign = (content: Content) => html`<span role="img" aria-label="${emojis[content][1]}">${emojis[content][0]}</span>`

/** What the visitor can do with a text: quote it in the comment box, edit it, delete it. */
export function postMenu(written: Written, may: { quote: boolean; edit: boolean; remove: boolean }): Html {
  const items: MenuItem[] = [
    { text: 'Link to this', href: `#${written.id}` },
    ...(may.quote ? [{ text: 'Quote reply', href: asking(written, 'quote', 'comment') }] : []),
    ...(may.edit ? [{ text: 'Edit', href: asking(written, 'edit'), replace: true }] : []),
    ...(may.remove ? [{ text: 'Delete', href: asking(written, 'delete'), replace: true }] : []),
  ]
  return menu(icon('kebab-horizontal'), items, { label: 'More' })
}

/** Tells whether a text is still the one that a form showed. */
export const versionOf = (body: string | null) => hash('sha1', body ?? '').slice(0, 16)

export const changedSince = (advice: string) =>
  new Refusal('conflict', `Somebody changed this text after you opened it. ${advice}`)

export const replaceAdvice = 'Cancel to see their text, or save again to replace it.'

/** The text in a box, in place of the text itself. */
export function editForm(visit: Visit, repo: Repository, written: Written, typed?: Typed & { shown?: Html | undefined }): Html {
  const { id, path, body } = written
  const box = composer(repo, {
    id: `${id}-body`,
    label: 'Text',
    unlabelled: true,
    value: typed?.body ?? body ?? '',
    preview: typed?.shown,
    draft: `${path} ${id}`,
  })
  const inputs = html`${alert(typed?.problem)}<input type="hidden" name="post" value="${id}"><input type="hidden" name="version" value="${versionOf(body)}">
${box}<div class="buttons">${button('Save', { kind: 'primary' })}${buttonLink('Cancel', backTo(written))}</div>`
  return form(visit, actionOf(written, 'edit'), inputs, { class: 'form reply' })
}

/** Asks before a comment is deleted. */
export function deleteForm(visit: Visit, written: Written): Html {
  const inputs = html`<input type="hidden" name="post" value="${written.id}"><p>Delete this comment? It cannot be restored.</p>
<div class="buttons">${button('Delete comment', { kind: 'danger' })}${buttonLink('Cancel', backTo(written))}</div>`
  return form(visit, actionOf(written, 'delete'), inputs, { class: 'form reply post-question' })
}

/** For the script that makes the boxes of a task list work: where a change is sent, and which text it is for. */
export function taskAttributes(written: Written): Html {
  return html` data-tasks="${actionOf(written, 'tasks')}" data-post="${written.id}" data-version="${versionOf(written.body)}"`
}
