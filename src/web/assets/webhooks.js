// Shows deliveries as they come. Without scripts, a reload does it.
const parts = ['state', 'history', 'deliveries']
const live = document.getElementById('live')
const rowsNow = () => [...document.querySelectorAll('.deliveries > li')]

// What was done is said once: it is not in the address any more when the page is loaded again.
const here = new URL(location.href)
if (here.searchParams.has('done')) {
  here.searchParams.delete('done')
  history.replaceState(null, '', here)
}

async function refresh() {
  const answer = await fetch(location.href)
  if (!answer.ok || new URL(answer.url).pathname !== location.pathname) return location.reload()
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const known = new Set(rowsNow().map(({ dataset }) => dataset.id))
  const back = remember()
  for (const id of parts) document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes)
  for (const row of rowsNow()) row.classList.toggle('fresh', !known.has(row.dataset.id))
  back()
}

// The keyboard stays where it is.
function remember() {
  const { id } = document.activeElement.closest('.deliveries > li')?.dataset ?? {}
  return () => {
    if (id) document.querySelector(`.deliveries > li[data-id="${id}"] a`)?.focus({ preventScroll: true })
  }
}

// One at a time, and no more than one in a second, however busy the hook is.
let running = false
let wanted = false
async function ask() {
  wanted = true
  if (running) return
  running = true
  while (wanted && !document.hidden) {
    wanted = false
    await refresh().catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  running = false
}

function say(text, lost) {
  live.hidden = false
  live.textContent = text
  live.classList.toggle('lost', lost)
}

// A browser has few connections to spare: a page that nobody sees holds none, and looks again when it is seen.
let stream
function follow() {
  stream?.close()
  if (document.hidden) return
  stream = new EventSource(`${location.pathname}/stream`)
  stream.addEventListener('open', () => {
    say('Live', false)
    ask()
  })
  stream.addEventListener('message', ask)
  stream.addEventListener('error', () => say('Not connected', true))
}
document.addEventListener('visibilitychange', follow)
addEventListener('pagehide', () => stream?.close())
addEventListener('pageshow', follow)
