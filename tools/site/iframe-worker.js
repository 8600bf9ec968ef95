// A Worker for pages that are opened from a folder, where browsers refuse real ones: the script of the search runs in a
// hidden frame of the page.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.queue = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const scope = this.frame.contentWindow;
      scope.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      scope.importScripts = (...urls) => urls.reduce((done, next) => done.then(() => this.load(next)), Promise.resolve());
      this.load(new URL(url, location.href).href).then(() => {
        this.isLoaded = true;
        for (const data of this.queue) this.postMessage(data);
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        Object.assign(script, { src: url, onload: resolve, onerror: reject });
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      if (this.isLoaded) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      else this.queue.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
