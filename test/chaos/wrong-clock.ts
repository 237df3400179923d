/** Imported first, shifts the clock of the process by `CLOCK_ERROR_MILLIS`. */
const error = Number(process.env.CLOCK_ERROR_MILLIS);
const RightDate = Date;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RightDate.now() + error] : args, newTarget),
  apply: () => new RightDate(RightDate.now() + error).toString(),
  get: (target, name, receiver) =>
    name === "now" ? () => RightDate.now() + error : Reflect.get(target, name, receiver),
});
