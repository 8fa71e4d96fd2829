// For pages that update without being loaded again.

// Calls `hear` when the stream opens and for each of its events, until the signal aborts. A browser has few connections, so a hidden page closes
// its stream, and opens it again when it is shown.
export function listen(address, hear, { signal, say = () => {} }) {
  let stream
  const open = () => {
    stream?.close()
    if (document.hidden || signal.aborted) return
    stream = new EventSource(address)
    stream.addEventListener('open', () => {
      say(true)
      hear()
    })
    stream.addEventListener('message', hear)
    stream.addEventListener('error', () => say(false))
  }
  open()
  document.addEventListener('visibilitychange', open, { signal })
  addEventListener('pagehide', () => stream?.close(), { signal })
  addEventListener('pageshow', ({ persisted }) => persisted && open(), { signal })
  signal.addEventListener('abort', () => stream?.close())
}

// Calls `show` with the current page after each event, and `say` when the connection opens or closes.
export function follow(show, { signal, say, address = `${location.pathname}/stream` }) {
  removeMessage()
  const path = location.pathname
  let running = false
  let wanted = false
  // One request at a time, and at most one a second.
  const ask = async () => {
    wanted = true
    if (running) return
    running = true
    while (wanted && !document.hidden && !signal.aborted) {
      wanted = false
      await load(path, show, signal).catch(() => {
        wanted = true
      })
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    running = false
  }
  listen(address, ask, { signal, say })
}

// Removes `done` from the address, so that loading the page again does not show the message again.
function removeMessage() {
  const here = new URL(location.href)
  if (!here.searchParams.has('done')) return
  here.searchParams.delete('done')
  history.replaceState(history.state, '', here)
}

async function load(path, show, signal) {
  const page = await readPage(path, await fetch(location.href, { signal }))
  if (!page || signal.aborted) return
  show(page)
  document.dispatchEvent(new Event('belfry:changed'))
}

// The page in an answer. If it is not that of `path`, for example because the session ended, loads the page again and returns nothing; unless a person
// has followed a link meanwhile, because Turbo keeps the document and they may be typing on the next page.
export async function readPage(path, answer) {
  if (location.pathname !== path) return
  if (answer.ok && new URL(answer.url).pathname === path) return read(answer)
  location.reload()
}

export const read = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')
