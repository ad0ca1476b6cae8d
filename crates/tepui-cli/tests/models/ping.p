event ePing: machine;
event ePong;
event eLate;

machine Main {
  var server: machine;
  start state Asking {
    entry {
      server = new Server();
      send server, ePing, this;
    }
    on ePong goto Done;
  }
  state Done {
    ignore ePong;
    on eLate do { assert false; }
  }
}

machine Server {
  start state Serving {
    on ePing do (client: machine) { send client, ePong; }
  }
}
