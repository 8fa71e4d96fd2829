import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { segments } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { type ActionResult, addressOf, groups, type InboxQuery, inbox, type Listing, writeFormer } from './inbox-query.ts'
import { inboxSide, saveFilterMenu } from './inbox-side.ts'
import { threadList } from './thread-list.ts'

/** The script replaces the elements with ids. The page also works without it. */
export function inboxBody(visit: Visit, listing: Listing, now: Date, result?: ActionResult): Html {
  const grouped = Object.entries(groups).map(([group, text]) => ({
    text,
    href: addressOf(listing, { group: group as InboxQuery['group'] }),
    current: group === listing.group,
  }))
  return html`<main class="inbox" id="inbox" data-page-keys="${keys}"><div id="panes" class="panes${listing.pane && ' reading'}">
<aside id="side" class="side">${inboxSide(visit, listing)}</aside>
<section class="list" aria-labelledby="inbox-title"><div class="title-bar"><h1 id="inbox-title">Notifications</h1>${segments('Grouped by', grouped)}</div>${filterBox(visit, listing)}
<div id="invitations">${listing.invitations}</div><div id="result" role="status">${result && resultNote(visit, listing, result)}</div>
<div id="threads">${threadList(visit, listing, now)}</div></section>
<section id="pane" class="pane" aria-label="Reading pane"${!listing.pane && html` hidden`}>${listing.pane}</section></div></main>`
}

const terms = [
  ['is:unread', 'also read, done, saved, snoozed'],
  ['is:pull', 'also issue, commit, release, invitation, transfer, webhook, import'],
  ['reason:mention', 'also assign, author, comment, review_requested, subscribed, team_mention …'],
  ['repo:owner/name', 'threads of a repository'],
  ['-is:issue', 'a minus excludes'],
  ['"two words"', 'words of the title'],
] as const

function filterBox(visit: Visit, listing: Listing): Html {
  const { view, group, q, unknown } = listing
  const help = menu(
    icon('question'),
    terms.map(([term, text]) => ({ markup: html`<code>${term}</code> <span class="muted">${text}</span>` })),
    { label: 'Terms' },
  )
  return html`<div class="inbox-filter"><form method="get" action="${inbox}" class="filter" role="search">
${view !== 'unread' && html`<input type="hidden" name="view" value="${view}">`}${group !== 'time' && html`<input type="hidden" name="group" value="${group}">`}
<label class="unseen" for="q">Filter</label><input id="q" name="q" type="search" value="${q}" placeholder="is:pull reason:review_requested" maxlength="500" autocomplete="off" spellcheck="false" autocapitalize="none">${button('Filter', { icon: 'filter' })}</form>
${saveFilterMenu(visit, listing)}${help}</div>
${unknown.length > 0 && banner(html`These terms are not valid and are ignored: ${unknown.map((word) => html`<code>${word}</code> `)}`, 'danger')}`
}

function resultNote(visit: Visit, look: InboxQuery, result: ActionResult): Html | undefined {
  const back = undoForm(visit, look, result)
  return banner(html`${result.text} ${back}`, result.failed ? 'attention' : 'success')
}

function undoForm(visit: Visit, look: InboxQuery, { undo, undo_all, undo_filter }: ActionResult): Html | undefined {
  const hidden = (name: string, value: string | number) => html`<input type="hidden" name="${name}" value="${value}">`
  const link = html`<button class="link" id="undo">Undo</button>`
  const here = addressOf(look, { page: look.page })
  if (undo_filter) {
    const { name, view, query } = undo_filter
    const fields = html`${hidden('act', 'create')}${hidden('back', here)}${hidden('name', name)}${hidden('view', view)}${hidden('q', query)}${link}`
    return form(visit, `${inbox}/filters`, fields, { class: 'inline' })
  }
  if (!undo && undo_all === undefined) return undefined
  const former = undo && html`${hidden('undone', undo.act)}${undo.former.map((one) => hidden('former', writeFormer(one)))}`
  const fields = html`${hidden('act', 'undo')}${undo_all !== undefined && hidden('position', undo_all)}${former}${link}`
  return form(visit, here, fields, { class: 'inline' })
}

/** For the list of keys of the page. */
const keys = JSON.stringify([
  ['j', 'Next'],
  ['k', 'Previous'],
  ['x', 'Select'],
  ['Enter', 'Read beside the list'],
  ['o', 'Open the page'],
  ['Esc', 'Close the reading pane'],
  ['r', 'Mark as read'],
  ['e', 'Done'],
  ['s', 'Snooze'],
  ['m', 'Mute'],
  ['z', 'Undo'],
  ['/', 'Filter'],
])
