// Shared by pages that update without reloading.

// A browser has few connections, so a hidden page closes its stream, and opens it again when it is shown.
export function listen(address, hear, say = () => {}) {
  let stream
  const open = () => {
    stream?.close()
    if (document.hidden) return
    stream = new EventSource(address)
    stream.addEventListener('open', () => {
      say(true)
      hear()
    })
    stream.addEventListener('message', hear)
    stream.addEventListener('error', () => say(false))
  }
  document.addEventListener('visibilitychange', open)
  addEventListener('pagehide', () => stream?.close())
  addEventListener('pageshow', open)
}

// Calls `show` with the current page after each event, and `say` when the connection opens or closes.
export function follow(show, say) {
  removeMessage()
  let running = false
  let wanted = false
  // One request at a time, and at most one a second.
  const ask = async () => {
    wanted = true
    if (running) return
    running = true
    while (wanted && !document.hidden) {
      wanted = false
      await load(show).catch(() => {
        wanted = true
      })
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    running = false
  }
  listen(`${location.pathname}/stream`, ask, say)
}

// Removes `done` from the address, so that loading the page again does not show the message again.
function removeMessage() {
  const here = new URL(location.href)
  if (!here.searchParams.has('done')) return
  here.searchParams.delete('done')
  history.replaceState(null, '', here)
}

async function load(show) {
  const answer = await fetch(location.href)
  if (!answer.ok || new URL(answer.url).pathname !== location.pathname) return location.reload()
  show(await read(answer))
}

export const read = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')
