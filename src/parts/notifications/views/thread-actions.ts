import type { Thread } from '#parts/notifications/threads.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import { writeShown } from './inbox-query.ts'

const act = (name: string, text: string, symbol: string) =>
  button(text, { name: 'act', value: name, icon: symbol, size: 'small' })

/** Buttons for the threads of the form around them. */
export function threadButtons(list: 'done' | 'snoozed' | undefined, key: string): Html {
  if (list === 'done')
    return html`${act('undone', 'Move to inbox', 'inbox')}${act('save', 'Save', 'bookmark')}${act('mute', 'Mute', 'bell-slash')}`
  const snooze = snoozeMenu(key)
  if (list === 'snoozed') return html`${act('unread', 'Unsnooze', 'inbox')}${act('done', 'Done', 'check')}${snooze}`
  return html`${act('read', 'Mark as read', 'read')}${act('done', 'Done', 'check')}${snooze}${act('save', 'Save', 'bookmark')}${act('mute', 'Mute', 'bell-slash')}`
}

/** A script sets `offset`, so that days begin when they do for the user. */
function snoozeMenu(key: string): Html {
  const until = (choice: string, text: string, symbol: string) => ({
    markup: html`<button name="act" value="snooze-${choice}">${icon(symbol)}<span>${text}</span></button>`,
  })
  return menu(
    html`<span class="button small">${icon('clock')}<span>Snooze</span></span>`,
    [
      until('later', 'Later today', 'clock'),
      until('tomorrow', 'Until tomorrow', 'sun'),
      until('week', 'Until next week', 'calendar'),
      'divider',
      {
        markup: html`<div class="snooze-date"><label for="date-${key}">Until</label><input id="date-${key}" type="date" name="date">${button('Snooze', { name: 'act', value: 'snooze-date', size: 'small', label: 'Snooze until this day' })}</div><input type="hidden" name="offset" value="0">`,
      },
    ],
    { align: 'start', key: 'snooze' },
  )
}

/** What a row offers for its own thread. The texts name the thread, for screen readers. */
export function rowButtons(thread: Thread, title: string): Html {
  const { unread, done, saved } = thread
  const one = (name: string, label: string, symbol: string, pressed = false) =>
    html`<button class="button invisible small${pressed && ' pressed'}" name="one" value="${name} ${writeShown(thread)}" title="${label}" aria-label="${label}: ${title}">${icon(symbol)}</button>`
  return html`<span class="row-buttons">${saved ? one('unsave', 'Unsave', 'bookmark-fill', true) : one('save', 'Save', 'bookmark')}${unread ? one('read', 'Mark as read', 'read') : one('unread', 'Mark as unread', 'unread')}${done ? one('undone', 'Move to inbox', 'inbox') : one('done', 'Done', 'check')}</span>`
}
