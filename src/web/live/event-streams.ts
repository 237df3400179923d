/**
 * Server-sent events for open pages: what they show has changed. In: the version of what a page shows. Out: an event `changed`
 * at most once a second, and once more when nothing changes any longer; a page then loads its parts again. The events have no
 * content, so they reveal nothing that a page would not show.
 */
import type { Context } from "hono";
import { recentMillis } from "../values/kept-values.ts";

export interface EventStreams {
  /** Responds with a stream; with 503 if there are too many. */
  open(context: Context): Response;
  /** Ends all streams. */
  close(): void;
}

/** Changes with what is watched. */
export type ReadVersion = () => string | Promise<string>;

const maxStreams = 32;
/** Longer than pages use a value that they have computed: only then they show the state after the last change. */
const settledMillis = recentMillis + 1000;
const pollMillis = 1000;
/** Keeps an idle connection open, and shows that its reader is still there. */
const aliveMillis = 15_000;
/** Events that a reader has not taken. A reader who lags behind is dropped. */
const maxQueued = 8;

const encoder = new TextEncoder();
const events = { changed: encoder.encode("event: changed\ndata:\n\n"), alive: encoder.encode(":\n\n") };

type Controller = ReadableStreamDefaultController<Uint8Array>;

export function createEventStreams(readVersion: ReadVersion): EventStreams {
  const streams = new Set<Controller>();
  let wake = () => {};
  let isPolling = false;
  let lastEventAt = performance.now();

  const remove = (stream: Controller): void => {
    streams.delete(stream);
    if (streams.size === 0) wake();
  };
  const drop = (stream: Controller): void => {
    remove(stream);
    try {
      stream.close();
    } catch {
      // Its reader has gone.
    }
  };
  const send = (event: keyof typeof events): void => {
    lastEventAt = performance.now();
    for (const stream of streams) {
      if ((stream.desiredSize ?? 0) <= 0) drop(stream);
      else stream.enqueue(events[event]);
    }
  };
  /** For as long as there is a stream. */
  const poll = async (): Promise<void> => {
    isPolling = true;
    let version: string | null = null;
    let changedAt: number | null = null;
    while (streams.size > 0) {
      const read = await Promise.resolve()
        .then(readVersion)
        .catch(() => version);
      const now = performance.now();
      if (version !== null && read !== version) {
        changedAt = now;
        send("changed");
      } else if (changedAt !== null && now - changedAt > settledMillis) {
        changedAt = null;
        send("changed");
      } else if (now - lastEventAt > aliveMillis) send("alive");
      version = read;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMillis);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (streams.size === 0) wake();
      });
    }
    isPolling = false;
  };
  return {
    open(context) {
      if (streams.size >= maxStreams)
        return context.text(`At most ${maxStreams} pages are kept up to date.\n`, 503);
      let opened: Controller | undefined;
      const stream = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            opened = controller;
            streams.add(controller);
            controller.enqueue(events.alive);
            if (!isPolling) void poll();
          },
          cancel() {
            if (opened !== undefined) remove(opened);
          },
        },
        { highWaterMark: maxQueued },
      );
      return context.body(stream, 200, {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
      });
    },
    close() {
      for (const stream of [...streams]) drop(stream);
    },
  };
}
