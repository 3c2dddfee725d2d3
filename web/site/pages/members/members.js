import '../layout/copy.js';
